/**
 * An answer for a person: first whether it is all, then why not and how to go on, then what to distrust, then the data.
 * Every text that may come from outside goes through the one sanitizer.
 */
import type { JsonValue } from '#core/contract/compiled.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { AnswerDocument } from '#core/wire/answer-document.ts';

const ROWS_SHOWN = 50;

export function renderAnswer(answer: AnswerDocument, repeat: (extra: string) => string): string {
  return [...verdict(answer), ...wayOn(answer, repeat), ...distrust(answer), ...rows(answer.data)].join('\n');
}

function verdict({ completeness }: AnswerDocument): string[] {
  const { page, scope } = completeness;
  const walked = page.walk.calls > 1 ? `, ${page.walk.returned} over ${page.walk.calls} calls` : '';
  const known = page.about !== undefined ? `, of about ${page.about}` : page.at_least !== undefined ? `, of at least ${page.at_least}` : '';
  const head = completeness.complete ? 'COMPLETE' : 'NOT COMPLETE';
  const lines = [
    `${head}: ${page.returned} returned${walked}${known} (${visibleText(scope.resource)}; ${scope.consistency.replace('_', ' ')})`,
  ];
  for (const reason of completeness.incomplete_reasons) {
    const sources =
      reason.sources === undefined || reason.sources.length === 0 ? '' : ` [${reason.sources.map((name) => visibleText(name)).join(', ')}]`;
    const rule = reason.rule === undefined ? [] : [`rule ${visibleText(reason.rule)}`];
    const limit = Object.entries(reason.limit ?? {}).map(([name, value]) => `${name} ${value}`);
    lines.push(`  why: ${reason.code} (${[reason.origin, ...rule, ...limit].join(', ')})${sources}: ${visibleText(reason.message)}`);
  }
  if (completeness.complete && scope.absence === 'never')
    lines.push('  note: what is not listed here may still exist (absence is not provable)');
  for (const exclusion of scope.exclusions) lines.push(`  not looked at: ${visibleText(exclusion)}`);
  return lines;
}

function wayOn({ completeness }: AnswerDocument, repeat: (extra: string) => string): string[] {
  const way = completeness.continuation;
  switch (way.kind) {
    case 'next_cursor':
      return [
        `  way on: ${repeat(`--cursor ${way.cursor}`)}${way.expires_at === undefined ? '' : `\n          (until ${way.expires_at})`}`,
      ];
    case 'retry_after':
      return [
        `  way on: in ${Math.ceil(way.retry_after_ms / 1000)} s (${way.retry_at}): ${repeat(way.cursor === undefined ? '' : `--cursor ${way.cursor}`)}`,
      ];
    case 'narrow_query':
      return [`  way on: ask a narrower question${way.arguments.length === 0 ? '' : `; narrow ${way.arguments.join(', ')}`}`];
    case 'retry_with_deadline':
      return [`  way on: ${repeat(`--deadline ${Math.ceil(way.deadline_ms / 1000)}s`)}`];
    case 'restart':
      return ['  way on: start again from the first page; never merge both attempts'];
    case 'none':
      return completeness.complete ? [] : ['  way on: none'];
  }
}

function distrust(answer: AnswerDocument): string[] {
  const lines = answer.warnings.map((warning) => {
    const age = warning.observed_age_ms === undefined ? '' : `, ${Math.round(warning.observed_age_ms / 60_000)} min old`;
    const owner =
      warning.owner === undefined
        ? ''
        : ` (owner ${visibleText(warning.owner)}${warning.expires_at === undefined ? '' : `, until ${warning.expires_at}`})`;
    return `  warning: ${warning.code}${age}: ${visibleText(warning.message)}${owner}`;
  });
  for (const field of answer.omitted_fields) lines.push(`  omitted: ${visibleText(field.path)} (${field.cause})`);
  if (answer.evidence !== undefined)
    lines.push(`  evidence: ${answer.evidence.slice(0, 24)}... (${answer.evidence.length} characters; -o json shows all)`);
  return lines;
}

function rows(data: Readonly<Record<string, JsonValue>>): string[] {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(data)) {
    if (!Array.isArray(value)) {
      lines.push(`${visibleText(name)}: ${visibleText(JSON.stringify(value))}`);
      continue;
    }
    lines.push(`${visibleText(name)}:`);
    for (const row of value.slice(0, ROWS_SHOWN)) lines.push(`  ${visibleText(JSON.stringify(row))}`);
    if (value.length > ROWS_SHOWN) lines.push(`  ... ${value.length - ROWS_SHOWN} more rows; -o json prints all`);
  }
  return lines;
}
