"""Calls postern.v1.ActionService as a stranger would: from the .proto files, in another language.

    python call.py GENERATED_DIR ADDRESS METHOD REQUEST_JSON

Prints one JSON object: {"events": [...]} with every field of every message, defaults included, or {"error": {...}}
with the code, the message and the details of google.rpc.Status.
"""
import json
import sys

sys.path.insert(0, sys.argv[1])

import grpc  # noqa: E402
from google.protobuf import json_format  # noqa: E402
from google.rpc import error_details_pb2, status_pb2  # noqa: E402
from postern.v1 import action_pb2, action_pb2_grpc, completeness_pb2  # noqa: E402

DETAILS = [
    error_details_pb2.ErrorInfo,
    error_details_pb2.RequestInfo,
    error_details_pb2.BadRequest,
    error_details_pb2.RetryInfo,
    completeness_pb2.ErrorDetail,
]


def as_dict(message):
    return json_format.MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def error_of(failure):
    details = []
    for key, value in failure.trailing_metadata() or []:
        if key != "grpc-status-details-bin":
            continue
        for packed in status_pb2.Status.FromString(value).details:
            for kind in DETAILS:
                if packed.Is(kind.DESCRIPTOR):
                    message = kind()
                    packed.Unpack(message)
                    details.append({"type": kind.DESCRIPTOR.full_name, **as_dict(message)})
    return {"code": failure.code().name, "message": failure.details(), "details": details}


def main(address, method, request_json):
    rpc = action_pb2.DESCRIPTOR.services_by_name["ActionService"].methods_by_name[method]
    request = json_format.ParseDict(json.loads(request_json), getattr(action_pb2, rpc.input_type.name)())
    with grpc.insecure_channel(address) as channel:
        answer = getattr(action_pb2_grpc.ActionServiceStub(channel), method)(request, timeout=20)
        try:
            events = [as_dict(event) for event in answer] if rpc.server_streaming else [as_dict(answer)]
            print(json.dumps({"events": events}))
        except grpc.RpcError as failure:
            print(json.dumps({"error": error_of(failure)}))


if __name__ == "__main__":
    try:
        main(*sys.argv[2:])
    except grpc.RpcError as failure:
        print(json.dumps({"error": error_of(failure)}))
