/**
 * Results as JUnit XML, the form every CI system reads: one `testsuite` a file, one `testcase` a test.
 * @see https://github.com/testmoapp/junitxml
 */
import { reportFailure } from './report.ts';
import type { TestResult } from './run-test.ts';

/** `file` of a result names its suite; tests without one share `contract-test`. */
export function junitXml(results: readonly TestResult[]): string {
  const suites = Map.groupBy(results, ({ file }) => file ?? 'contract-test');
  const failures = results.filter(({ passed }) => !passed).length;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="postern contract test" tests="${results.length}" failures="${failures}">`,
  ];
  for (const [file, tests] of suites) lines.push(...suite(file, tests));
  lines.push('</testsuites>', '');
  return lines.join('\n');
}

function suite(file: string, tests: readonly TestResult[]): readonly string[] {
  const failures = tests.filter(({ passed }) => !passed).length;
  return [
    `  <testsuite name="${attribute(file)}" tests="${tests.length}" failures="${failures}">`,
    ...tests.flatMap(testCase),
    '  </testsuite>',
  ];
}

function testCase(result: TestResult): readonly string[] {
  const open = `    <testcase name="${attribute(result.name)}" classname="${attribute(result.contract)}"`;
  if (result.passed) return [`${open}/>`];
  const report = reportFailure(result);
  return [
    `${open}>`,
    `      <failure message="${attribute(report[0] ?? 'failed')}">${text(report.join('\n'))}</failure>`,
    '    </testcase>',
  ];
}

function attribute(value: string): string {
  return text(value).replaceAll('"', '&quot;').replaceAll('\t', '&#9;').replaceAll('\n', '&#10;').replaceAll('\r', '&#13;');
}

/** Characters XML 1.0 cannot carry even escaped become a code point's name; lone surrogates are among them. */
function text(value: string): string {
  return value
    .replace(NOT_XML, (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** The complement of Char, https://www.w3.org/TR/xml/#charsets */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
