import assert from 'node:assert/strict';
import { test } from 'node:test';
import { junitXml } from '#sidecar/contract-test/junit.ts';
import { reportFailure } from '#sidecar/contract-test/report.ts';
import type { TestResult } from '#sidecar/contract-test/run-test.ts';

const PASSED: TestResult = {
  name: 'walk',
  contract: 'list-pods',
  file: 'pods.test.yaml',
  passed: true,
  problems: [],
  calls: [],
  callsExpected: 1,
  differences: [],
};

const FAILED: TestResult = {
  ...PASSED,
  name: 'cut',
  passed: false,
  calls: [
    {
      index: 0,
      outcome: {
        status: 'error',
        code: 'REMOTE_PROTOCOL',
        message: 'The answer is not what the contract says.',
        warnings: [],
        omitted: [],
      },
      differences: [{ at: 'status', expected: 'ok', got: 'error' }],
      unmatched: [
        {
          request: { method: 'GET', path: '/pods', query: { continue: 'a"<b>\u0001' } },
          nearest: { exchange: 1, taken: true, differences: [{ at: 'query.continue', expected: undefined, got: 'a"<b>\u0001' }] },
        },
      ],
      leftOver: [1, 2],
      leftOverAllowed: 0,
    },
  ],
};

test('report: a failed test says what differs, the nearest exchange and what was left over', () => {
  assert.deepEqual(reportFailure(FAILED), [
    'a request no exchange fits: {"method":"GET","path":"/pods","query":{"continue":"a\\"<b>\\u0001"}}',
    '  nearest: exchanges[1], which an earlier request took',
    '    query.continue: expected nothing, got "a\\"<b>\\u0001"',
    'status: expected "ok", got "error"',
    'exchanges nothing asked for: exchanges[1], exchanges[2]',
    '  error: The answer is not what the contract says.',
  ]);
});

test('report: an answer that is not what the contract says names what to look for', () => {
  const calls = FAILED.calls.map((call) => ({ ...call, unmatched: [] }));
  assert.match(reportFailure({ ...FAILED, calls }).at(-1) ?? '', /no content-type or one that result\.contentTypes lacks/);
});

test('junit: the document is exactly this, escaped', () => {
  assert.equal(
    junitXml([PASSED, FAILED, { ...PASSED, name: 'a&"b', file: 'other<.yaml' }]),
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="postern contract test" tests="3" failures="1">
  <testsuite name="pods.test.yaml" tests="2" failures="1">
    <testcase name="walk" classname="list-pods"/>
    <testcase name="cut" classname="list-pods">
      <failure message="a request no exchange fits: {&quot;method&quot;:&quot;GET&quot;,&quot;path&quot;:&quot;/pods&quot;,&quot;query&quot;:{&quot;continue&quot;:&quot;a\\&quot;&lt;b&gt;\\u0001&quot;}}">a request no exchange fits: {"method":"GET","path":"/pods","query":{"continue":"a\\"&lt;b&gt;\\u0001"}}
  nearest: exchanges[1], which an earlier request took
    query.continue: expected nothing, got "a\\"&lt;b&gt;\\u0001"
status: expected "ok", got "error"
exchanges nothing asked for: exchanges[1], exchanges[2]
  error: The answer is not what the contract says.</failure>
    </testcase>
  </testsuite>
  <testsuite name="other&lt;.yaml" tests="1" failures="0">
    <testcase name="a&amp;&quot;b" classname="list-pods"/>
  </testsuite>
</testsuites>
`,
  );
});

test('junit: characters XML cannot carry are named, not written', () => {
  const name = 'x\u0000\u0008\uFFFE\uD800y\tz\n';
  assert.match(junitXml([{ ...PASSED, name }]), /name="x&lt;U\+0000&gt;&lt;U\+0008&gt;&lt;U\+FFFE&gt;&lt;U\+D800&gt;y&#9;z&#10;"/);
});
