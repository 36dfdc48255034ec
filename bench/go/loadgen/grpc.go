package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const callTimeout = 20 * time.Second

// raw passes bytes through: the request is encoded once, and of a reply only the marker is looked at.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error)      { return *(v.(*[]byte)), nil }
func (raw) Unmarshal(data []byte, v any) error { *(v.(*[]byte)) = bytes.Clone(data); return nil }
func (raw) Name() string                       { return "proto" }

// grpcCaller calls a server-streaming method over one connection and reads the stream to its end.
func grpcCaller(target, method, request string) (caller, error) {
	message, err := hex.DecodeString(request)
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient("passthrough:///"+target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	description := &grpc.StreamDesc{ServerStreams: true}
	return func(int) error {
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		defer cancel()
		stream, err := connection.NewStream(ctx, description, method, grpc.ForceCodec(raw{}))
		if err != nil {
			return err
		}
		if err := stream.SendMsg(&message); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		return readToEnd(stream)
	}, nil
}

func readToEnd(stream grpc.ClientStream) error {
	good := false
	for {
		var reply []byte
		err := stream.RecvMsg(&reply)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		good = good || bytes.Contains(reply, []byte(*marker))
	}
	if !good {
		return fmt.Errorf("no reply held %q", *marker)
	}
	return nil
}
