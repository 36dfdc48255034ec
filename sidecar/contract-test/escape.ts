/**
 * Fires hostile arguments at every slot of a contract and looks at the bytes that really leave.
 *
 * Real are the argument check, the assembler and the HTTP client; the origin is replaced by a loopback server (the
 * connection is dialled there and is plain, whatever the origin says), and the secret is a made-up one. What arrives is
 * read by a parser of its own and compared with the template.
 */
import { connect } from 'node:net';
import { systemClock } from '#core/bounds/clock.ts';
import { isObject, memberOf } from '#core/completeness/path.ts';
import { checkArguments } from '#core/contract/arguments.ts';
import { assemble } from '#core/contract/assemble.ts';
import type { CompiledContract, JsonValue, RequestTemplate } from '#core/contract/compiled.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { describeSchema } from '#core/contract/schema.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { composedText } from '#core/contract/template-text.ts';
import { parseStrictJson } from '#core/encoding/strict-json.ts';
import { HttpClient } from '#sidecar/execute/http/client.ts';
import { CANARY_SECRET, canaryCredential, replayedBinding } from './canary-credential.ts';
import { attackedSlots, type EscapeCase, escapeCases, requestTemplates } from './escape-cases.ts';
import { type Attach, type EscapeRange, fireShot, type ShotResult } from './escape-shot.ts';
import type { Escape } from './judge-wire.ts';
import { WireCapture } from './wire-capture.ts';

/** One hostile input that did not stay in its slot. */
export interface EscapeFinding {
  /** `request`, `open`, `next`, `close`. */
  readonly template: string;
  /** `args.repository`, `next.after`. */
  readonly slot: string;
  readonly aim: string;
  readonly value: JsonValue;
  readonly escapes: readonly Escape[];
  /** The first bytes the server saw, as latin1; empty when nothing was sent. */
  readonly seen: string;
}

export interface EscapeReport {
  readonly contract: string;
  /** Arguments and values of the remote that were attacked. */
  readonly slots: readonly string[];
  readonly fired: number;
  /** Sent, and every value stayed in its slot. */
  readonly contained: number;
  /** Refused before anything was sent, by rule. */
  readonly refused: Readonly<Record<string, number>>;
  /** Requests whose plain arguments were refused, so that nothing was proved about them. */
  readonly unreached: readonly string[];
  /** All that escaped; `findings` holds the first of them. */
  readonly escaped: number;
  readonly findings: readonly EscapeFinding[];
}

export interface EscapeOptions {
  readonly contract: CompiledContract;
  /** Good arguments; made from the schema when absent. */
  readonly base?: JsonValue;
  readonly runs: number;
  readonly seed: number;
  /** Their place on the request and their destinations are real, the secret is a canary; one that is not served has a stand-in. */
  readonly bindings: readonly CompiledBinding[];
  /** Only for checking this tool: production's are the defaults. */
  readonly assemble?: typeof assemble;
  readonly attach?: Attach;
}

/** Findings kept in full for one slot and place; one bad encoder lets hundreds through, and they hide the next one. */
const ALIKE_MAX = 5;

/** Throws TypeError for a contract without an HTTP target: SSH has no wire to look at here. */
export async function escapeContract(options: EscapeOptions): Promise<EscapeReport> {
  const { contract } = options;
  if (contract.target.kind !== 'http') throw new TypeError('only HTTP contracts can be fired at');
  const { target } = contract;
  const schema = describeSchema(contract.arguments);
  await using capture = await WireCapture.listen();
  const tally = new Tally(contract.name, attackedSlots(target, schema));
  const templates = requestTemplates(target);
  const clients = new Map(templates.map(([, { origin }]) => [origin, loopbackClient(origin, capture.port)]));
  const credentials = new Credentials(options.bindings);
  for (const shot of escapeCases(target, { ...options, schema })) {
    const args = checkedArguments(contract, shot.args);
    if (typeof args === 'string') {
      tally.add('', shot, { kind: 'refused', rule: args });
      continue;
    }
    const values = slotValues(contract, args, shot);
    const attach = options.attach ?? credentials.attach(composedText(target.credential, values) ?? '');
    for (const [name, template] of templates) {
      const transport = clients.get(template.origin);
      if (transport === undefined) continue;
      const range: EscapeRange = {
        capture,
        transport,
        assemble: options.assemble ?? assemble,
        attach,
      };
      tally.add(name, shot, await fireShot(template, values, range));
    }
  }
  for (const client of clients.values()) client.close();
  return tally.report(templates);
}

/** The product's client with the one seam a client has: where a connection is dialled. */
function loopbackClient(origin: string, port: number): HttpClient {
  return new HttpClient(
    origin,
    () =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port, noDelay: true });
        socket.once('connect', () => resolve(socket)).once('error', reject);
      }),
  );
}

/** The frozen arguments, or the rule that refused them. */
function checkedArguments(contract: CompiledContract, args: JsonValue): Readonly<Record<string, JsonValue>> | string {
  const parsed = parseStrictJson(JSON.stringify(args));
  if (!parsed.ok) return parsed.violation.rule;
  const checked = checkArguments(contract.arguments, parsed.value);
  return checked.kind === 'arguments' ? checked.args : (checked.violations[0]?.rule ?? 'arguments');
}

function slotValues(contract: CompiledContract, args: Readonly<Record<string, JsonValue>>, shot: EscapeCase): SlotValues {
  const { limits, sources } = contract.completeness;
  return {
    args,
    resolve: contract.resolve,
    constants: contract.constants,
    next: shot.next,
    open: shot.open,
    source: sources?.list[0]?.values ?? {},
    limits: {
      pages: limits.pages,
      items: limits.items,
      bytes: limits.bytes,
      time: limits.timeMs,
      ...(limits.pageSize === undefined ? {} : { pageSize: limits.pageSize }),
    },
    budget: { millis: limits.timeMs },
    operation: { id: 'op_escape00000000000000000000', key: 'op_escape00000000000000000000' },
    ...eachOf(contract, args),
  };
}

/** The first element of the list that `forEach` runs over. */
function eachOf({ effects }: CompiledContract, args: Readonly<Record<string, JsonValue>>): { readonly each?: JsonValue } {
  const list = effects.forEach?.argument.reduce<JsonValue | undefined>(
    (value, name) => (isObject(value) ? memberOf(value, name) : undefined),
    args,
  );
  return Array.isArray(list) && list.length > 0 ? { each: list[0] as JsonValue } : {};
}

/** One credential object a binding, as production keeps them. */
class Credentials {
  readonly #bindings: readonly CompiledBinding[];
  readonly #made = new Map<string, Attach>();

  constructor(bindings: readonly CompiledBinding[]) {
    this.#bindings = bindings;
  }

  attach(name: string): Attach {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const made = this.#make(name);
    this.#made.set(name, made);
    return made;
  }

  #make(name: string): Attach {
    const binding = this.#bindings.find((one) => one.name === name);
    // A contract may wait for its binding: its slots can be fired at all the same.
    if (binding === undefined) return standIn;
    const credential = canaryCredential(replayedBinding(binding), systemClock);
    return (request, signal) => credential.attach(request, signal);
  }
}

const standIn: Attach = (request) => ({ ...request, headers: [...request.headers, ['authorization', `Bearer ${CANARY_SECRET}`]] });

class Tally {
  readonly #contract: string;
  readonly #slots: readonly string[];
  readonly #refused: Record<string, number> = Object.create(null);
  readonly #reached = new Set<string>();
  readonly #findings: EscapeFinding[] = [];
  readonly #alike = new Map<string, number>();
  #fired = 0;
  #contained = 0;
  #escaped = 0;

  constructor(contract: string, slots: readonly string[]) {
    this.#contract = contract;
    this.#slots = slots;
  }

  add(template: string, shot: EscapeCase, result: ShotResult): void {
    this.#fired += 1;
    if (result.kind === 'refused') {
      this.#refused[result.rule] = (this.#refused[result.rule] ?? 0) + 1;
      return;
    }
    this.#reached.add(template);
    if (result.kind === 'contained') {
      this.#contained += 1;
      return;
    }
    this.#escaped += 1;
    const { slot, aim, value } = shot;
    const place = `${template} ${slot} ${result.escapes[0]?.where}`;
    const alike = (this.#alike.get(place) ?? 0) + 1;
    this.#alike.set(place, alike);
    if (alike <= ALIKE_MAX) this.#findings.push({ template, slot, aim, value, escapes: result.escapes, seen: result.seen });
  }

  report(templates: readonly (readonly [string, RequestTemplate])[]): EscapeReport {
    return {
      contract: this.#contract,
      slots: this.#slots,
      fired: this.#fired,
      contained: this.#contained,
      refused: this.#refused,
      unreached: templates.map(([name]) => name).filter((name) => !this.#reached.has(name)),
      escaped: this.#escaped,
      findings: this.#findings,
    };
  }
}
