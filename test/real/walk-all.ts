/** Follows cursors until none is given, and hands back every answer with the rows of all of them. */
import assert from 'node:assert/strict';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import type { Stage } from '#test/flow/stage.ts';

export type JsonRow = Readonly<Record<string, unknown>>;

export interface WholeWalk {
  readonly rows: readonly JsonRow[];
  readonly answers: readonly AnswerDocument[];
  readonly last: AnswerDocument;
}

const callsMax = 30;

export async function walkAll(stage: Stage, action: string, args: unknown = {}): Promise<WholeWalk> {
  const answers: AnswerDocument[] = [];
  let last = await stage.call(action, args);
  answers.push(last);
  while (last.completeness.continuation.kind === 'next_cursor') {
    assert(answers.length < callsMax, `${action} is not at its end after ${callsMax} calls`);
    last = await stage.call(action, args, { cursor: last.completeness.continuation.cursor });
    answers.push(last);
  }
  return { rows: answers.flatMap(rowsOf), answers, last };
}

/** The one list of an answer. */
export function rowsOf(answer: AnswerDocument): readonly JsonRow[] {
  const [rows, ...others] = Object.values(answer.data);
  assert(Array.isArray(rows) && others.length === 0);
  return rows as JsonRow[];
}

export function codesOf({ completeness }: Pick<AnswerDocument, 'completeness'>): string[] {
  return completeness.incomplete_reasons.map(({ code }) => code).sort();
}

/** The way on a reason's answer gives; fails when it is not a cursor. */
export function cursorOf(answer: AnswerDocument): string {
  const way = answer.completeness.continuation;
  assert.equal(way.kind, 'next_cursor', JSON.stringify(way));
  return 'cursor' in way ? (way.cursor ?? '') : '';
}
