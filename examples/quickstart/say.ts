/** What the quickstart prints: short, numbered, the same on a terminal and in a log. */
import { join } from 'node:path';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import type { Workspace } from './workspace.ts';

let step = 0;

export const say = {
  line(text = ''): void {
    console.log(text);
  },
  title(text: string): void {
    console.log(`\n${text}\n`);
  },
  step(text: string): void {
    step += 1;
    console.log(`\n[${step}] ${text}`);
  },
  call(action: string, args: object, extra = ''): void {
    console.log(`    agent> ${action} ${JSON.stringify(args)}${extra}`);
  },
  answer(answer: AnswerDocument, meaning: string): void {
    const { completeness, data, warnings, omitted_fields } = answer;
    const rows = Object.entries(data).map(([name, value]) =>
      Array.isArray(value) ? `${value.length} ${name}` : `${name} ${JSON.stringify(value)}`,
    );
    console.log(`    ${rows.join(', ')}`);
    console.log(
      `    complete: ${completeness.complete}   consistency: ${completeness.scope.consistency}   absence: ${completeness.scope.absence}`,
    );
    for (const { code, origin, rule, limit = {}, message } of completeness.incomplete_reasons) {
      const facts = [
        origin,
        ...(rule === undefined ? [] : [`rule ${rule}`]),
        ...Object.entries(limit).map(([name, value]) => `${name} ${value}`),
      ];
      console.log(`    why not:  ${code} (${facts.join(', ')}): ${message}`);
    }
    for (const warning of warnings)
      console.log(`    warning:  ${warning.code} ${warning.message} (owner ${warning.owner}, until ${warning.expires_at})`);
    for (const field of omitted_fields) console.log(`    omitted:  ${field.path} ${field.cause}`);
    if (!completeness.complete) console.log(`    way on:   ${completeness.continuation.kind}`);
    console.log(`    => ${meaning}`);
  },
  fact(text: string): void {
    console.log(`    ${text}`);
  },
  /** A text of several lines, such as a card. */
  block(text: string): void {
    for (const line of text.trimEnd().split('\n')) console.log(`    | ${line}`.trimEnd());
  },
  person(command: string): void {
    console.log(`    person> ${command}`);
  },
  goOn(
    {
      directory,
      contracts,
      credentials,
      state,
      approvals,
      auditKey,
      identity,
      recipient,
      archive,
    }: Workspace & { readonly recipient: string },
    serving: boolean,
  ): void {
    const api = serving ? 'The inventory API stays until Ctrl-C' : 'The inventory API has stopped (--stay keeps it)';
    console.log(`\nKept in ${directory}. ${api}. In another terminal, from this folder:`);
    console.log(`    npx postern contract lint ${contracts}`);
    console.log(`    npx postern contract explain ${contracts}`);
    console.log(
      `    env -i PATH="$PATH" npx postern sidecar --contracts ${contracts} --credentials ${credentials} --allow-loopback --state ${state} --approvals ${approvals} --audit-recipient ${recipient} --audit-store file://${archive}`,
    );
    console.log('    npx postern actions        (while the sidecar runs)');
    console.log(`    npx postern approvals --socket ${approvals}`);
    if (serving) console.log(`    npx postern call list_stock '{"warehouse": "north"}'`);
    console.log(`    npx postern audit tail --identity ${identity} -o table ${join(state, 'audit')}        (calls as they are recorded)`);
    console.log(`    npx postern audit verify --key ${auditKey} ${join(state, 'audit')}`);
    console.log(
      `    npx postern audit read --identity ${identity} --view activity ${archive}        (what was stored; the running sidecar's is in ${join(state, 'audit')})`,
    );
  },
};
