/** Medians over the rounds, ratios to F of the same round, and the table. */
import type { Writes } from './writes.ts';

export interface Point {
  readonly calls: number;
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly serverCpuUs: number;
  readonly serverRssKb: number;
  readonly errors: number;
  readonly firstError?: string;
}

export interface Start {
  readonly ms: number;
  readonly rssKb: number;
}

export interface Results {
  /** Target, calls in flight, one point a round. */
  readonly points: Readonly<Record<string, Readonly<Record<number, readonly Point[]>>>>;
  readonly idleKb: Readonly<Record<string, number>>;
  readonly cold: Readonly<Record<string, readonly Start[]>>;
  /** `node -e 0`: wall time and peak memory. */
  readonly emptyNode: readonly Start[];
  readonly writes?: Writes;
}

export function report(results: Results, what: Readonly<Record<string, string>>): string {
  const { points, writes } = results;
  const ofWrites = writes === undefined ? [] : [throughput(writes.points, what), ratios(writes.points, 'post'), syncs(writes)];
  return [throughput(points, what), ratios(points, 'F'), ...ofWrites, memory(results), starts(results)].join('\n\n');
}

type Points = Results['points'];

function throughput(points: Points, what: Readonly<Record<string, string>>): string {
  const rows = Object.entries(points).flatMap(([name, byWorkers]) =>
    Object.entries(byWorkers).map(([workers, rounds]) => [
      what[name] ?? name,
      workers,
      whole(median(rounds.map(({ perSecond }) => perSecond))),
      whole(median(rounds.map(({ p50Us }) => p50Us))),
      whole(median(rounds.map(({ p99Us }) => p99Us))),
      whole(median(rounds.map(({ serverCpuUs }) => serverCpuUs))),
      whole(rounds.reduce((sum, { errors }) => sum + errors, 0)),
    ]),
  );
  return table(['target', 'in flight', 'calls/s', 'p50 us', 'p99 us', 'CPU us/call', 'errors'], rows);
}

function syncs({ syncUs }: Writes): string {
  return `One append of 400 bytes with fdatasync, where the journal is: ${whole(syncUs)} us (median of 200).`;
}

/** Each round against the floor of that round: what disturbs the machine disturbs neighbours alike. */
function ratios(points: Points, name: string): string {
  const floor = points[name];
  if (floor === undefined) return `No ratios without ${name}.`;
  const rows = Object.entries(points).flatMap(([each, byWorkers]) =>
    each === name
      ? []
      : Object.entries(byWorkers).map(([workers, rounds]) => {
          const against = floor[Number(workers)] ?? [];
          const ratio = (of: (point: Point) => number) =>
            spread(rounds.flatMap((point, round) => (against[round] === undefined ? [] : [of(point) / of(against[round])])));
          return [each, workers, ratio(({ perSecond }) => perSecond), ratio(({ p50Us }) => p50Us), ratio(({ serverCpuUs }) => serverCpuUs)];
        }),
  );
  return table([`ratio to ${name}`, 'in flight', 'calls/s', 'p50', 'CPU'], rows);
}

function memory({ points, idleKb, emptyNode }: Results): string {
  const empty = median(emptyNode.map(({ rssKb }) => rssKb));
  const rows = Object.entries(idleKb).map(([name, idle]) => {
    const loaded = Math.max(0, ...Object.values(points[name] ?? {}).flatMap((rounds) => rounds.map(({ serverRssKb }) => serverRssKb)));
    return [name, megabytes(idle), megabytes(loaded), (idle / empty).toFixed(2), (loaded / empty).toFixed(2)];
  });
  return table(['memory', 'idle MB', 'loaded MB', 'idle / empty Node', 'loaded / empty Node'], rows);
}

function starts({ cold, emptyNode }: Results): string {
  const empty = median(emptyNode.map(({ ms }) => ms));
  const rows = [...Object.entries(cold), ['node -e 0', emptyNode] as const].map(([name, all]) => [
    name,
    spread(all.map(({ ms }) => ms)),
    (median(all.map(({ ms }) => ms)) / empty).toFixed(1),
    megabytes(median(all.map(({ rssKb }) => rssKb))),
  ]);
  return table(['cold start', 'ms to the first good answer', '/ node -e 0', 'MB after it'], rows);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle) - 1] ?? sorted[0] ?? 0)) / 2;
}

/** Median, least and greatest. */
function spread(values: readonly number[]): string {
  if (values.length === 0) return '-';
  const digits = Math.max(...values) < 100 ? 2 : 0;
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}-${Math.max(...values).toFixed(digits)})`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
}

function megabytes(kb: number): string {
  return (kb / 1024).toFixed(0);
}

/** A Markdown table, so that the page of results is the output of a run. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
