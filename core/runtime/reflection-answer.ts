/** What reflection says of a service: its file and all files that one imports, as serialized FileDescriptorProto. */
import { create, type DescFile, type DescService, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import {
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from '#proto/grpc/reflection/v1/reflection_pb.ts';

/** v1 and v1alpha differ in the name of their package only, so one form serves both. Throws on bytes that are no request. */
export function reflectionAnswer(services: readonly DescService[], request: Uint8Array): Buffer {
  const asked = fromBinary(ServerReflectionRequestSchema, request);
  const bytes = toBinary(
    ServerReflectionResponseSchema,
    create(ServerReflectionResponseSchema, { originalRequest: asked, messageResponse: answerTo(services, asked) }),
  );
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse']>;

function answerTo(services: readonly DescService[], { messageRequest }: ServerReflectionRequest): Answer {
  const files = filesOf(services.map(({ file }) => file));
  switch (messageRequest.case) {
    case 'listServices':
      return { case: 'listServicesResponse', value: { service: services.map(({ typeName }) => ({ name: typeName })) } };
    case 'fileByFilename':
      return fileAnswer(files.find((file) => file.proto.name === messageRequest.value));
    case 'fileContainingSymbol':
      return fileAnswer(files.find((file) => symbolsOf(file).has(messageRequest.value)));
    case 'allExtensionNumbersOfType':
      return { case: 'allExtensionNumbersResponse', value: { baseTypeName: messageRequest.value, extensionNumber: [] } };
    default:
      return notFound();
  }
}

function fileAnswer(file: DescFile | undefined): Answer {
  if (file === undefined) return notFound();
  return {
    case: 'fileDescriptorResponse',
    value: { fileDescriptorProto: filesOf([file]).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto)) },
  };
}

function notFound(): Answer {
  return { case: 'errorResponse', value: { errorCode: status.NOT_FOUND, errorMessage: 'Not described here.' } };
}

/** The files and everything they import, each once, importers first. */
function filesOf(roots: readonly DescFile[]): DescFile[] {
  const found = new Set<DescFile>();
  const visit = (file: DescFile) => {
    if (found.has(file)) return;
    found.add(file);
    file.dependencies.forEach(visit);
  };
  roots.forEach(visit);
  return [...found];
}

function symbolsOf(file: DescFile): Set<string> {
  const names = new Set<string>();
  for (const type of nestedTypes(file)) {
    if (type.kind === 'service') for (const method of type.methods) names.add(`${type.typeName}.${method.name}`);
    names.add(type.typeName);
  }
  return names;
}
