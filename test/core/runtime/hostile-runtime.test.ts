import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { disarm, NODE_FLOOR, type RuntimeFacts, runtimeProblems } from '#core/runtime/hostile-runtime.ts';

const clean: RuntimeFacts = { env: {}, execArgv: [], program: '/postern/postern.cjs', nodeVersion: NODE_FLOOR, inspecting: false };

test('hostile runtime: an empty environment has no problems', () => assert.deepEqual(runtimeProblems(clean), []));

test('hostile runtime: what images set of themselves is no problem', () => {
  const env = {
    PATH: '/bin',
    HOME: '/',
    NODE_VERSION: '24.21.0',
    HOSTNAME: 'pod',
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    POSTERN_LISTEN: '127.0.0.1:9000',
    TZ: 'UTC',
  };
  assert.deepEqual(runtimeProblems({ ...clean, env }), []);
});

test('hostile runtime: variables of Services do not keep it from starting, whatever the Services are called', () => {
  const of = (service: string) => ({
    [`${service}_SERVICE_HOST`]: '10.0.0.1',
    [`${service}_SERVICE_PORT`]: '80',
    [`${service}_SERVICE_PORT_HTTP_PROXY`]: '80',
    [`${service}_PORT`]: 'tcp://10.0.0.1:80',
    [`${service}_PORT_80_TCP`]: 'tcp://10.0.0.1:80',
    [`${service}_PORT_80_TCP_ADDR`]: '10.0.0.1',
  });
  const env = { ...of('NODE_EXPORTER'), ...of('GRPC_GATEWAY'), ...of('SSL_PROXY') };
  assert.deepEqual(runtimeProblems({ ...clean, env }), []);
});

test('hostile runtime: a compile cache is taken from beside the program only', () => {
  const given = (folder: string) => runtimeProblems({ ...clean, env: { NODE_COMPILE_CACHE: folder } }).length;
  assert.equal(given('/postern/compile-cache'), 0);
  for (const folder of ['/tmp/cache', '/postern/../tmp', '/posternx/cache', 'postern/cache', '']) assert.equal(given(folder), 1, folder);
});

const names = [
  'NODE_OPTIONS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'NODE_DEBUG',
  'NODE_PATH',
  'NODE_V8_COVERAGE',
  'NODE_REDIRECT_WARNINGS',
  'NODE_PENDING_DEPRECATION',
  'NODE_SOMETHING_NEW',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'SSLKEYLOGFILE',
  'OPENSSL_CONF',
  'OPENSSL_MODULES',
  'HTTP_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'NO_PROXY',
  'no_proxy',
  'grpc_proxy',
  'GRPC_TRACE',
  'GRPC_VERBOSITY',
  'GRPC_NODE_DEBUG_SEND_ERROR_DETAILS',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
];
for (const name of names) {
  test(`hostile runtime: ${name} is refused, and its value is not repeated`, () => {
    const problems = runtimeProblems({ ...clean, env: { [name]: 's3cr3t' } });
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', new RegExp(`variable ${name} must`));
    assert.doesNotMatch(problems[0] ?? '', /s3cr3t/);
  });
}

for (const flag of [
  '--inspect=0.0.0.0:9229',
  '--require=/tmp/x.js',
  '-r',
  '--import=x',
  '--tls-keylog=/tmp/k',
  '--use-openssl-ca',
  '--insecure-http-parser',
  '--experimental-loader=x',
  '--heapsnapshot-signal=SIGUSR2',
]) {
  test(`hostile runtime: ${flag.split('=')[0]} is refused`, () => assert.equal(runtimeProblems({ ...clean, execArgv: [flag] }).length, 1));
}

test('hostile runtime: heap flags are allowed', () => {
  assert.deepEqual(
    runtimeProblems({ ...clean, execArgv: ['--max-old-space-size=64', '--max-semi-space-size=4', '--disable-sigusr1'] }),
    [],
  );
});

test('hostile runtime: an inspector and an old Node are refused, all problems at once', () => {
  assert.equal(
    runtimeProblems({ env: { NODE_OPTIONS: '' }, execArgv: ['--inspect'], nodeVersion: '24.20.9', program: '/p', inspecting: true }).length,
    4,
  );
});

for (const [version, refused] of [
  ['24.21.0', false],
  ['24.21.1', false],
  ['24.100.0', false],
  ['26.0.0', false],
  ['24.3.9', true],
  ['20.99.0', true],
] as const) {
  test(`hostile runtime: Node ${version} is ${refused ? 'refused' : 'taken'}`, () => {
    assert.equal(runtimeProblems({ ...clean, nodeVersion: version }).length, refused ? 1 : 0);
  });
}

test('hostile runtime: after disarming SIGUSR1 has a listener and reports are off', () => {
  const report = { reportOnSignal: true, reportOnFatalError: true, reportOnUncaughtException: true };
  const target = Object.assign(new EventEmitter(), { report });
  disarm(target);
  assert.equal(target.listenerCount('SIGUSR1'), 1);
  assert.deepEqual(report, { reportOnSignal: false, reportOnFatalError: false, reportOnUncaughtException: false });
});
