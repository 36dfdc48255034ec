/** One metric of the catalogue. */
export interface MetricEntry {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Last word of the name. `state` is 0 or 1. */
  readonly unit:
    | 'total'
    | 'seconds'
    | 'broken'
    | 'bytes'
    | 'calls'
    | 'connections'
    | 'contracts'
    | 'bindings'
    | 'sessions'
    | 'operations'
    | 'rows'
    | 'state'
    | 'info'
    | 'segments'
    /** Of a record in a chain. */
    | 'sequence'
    /** Objects waiting. */
    | 'length'
    /** Questions to people. */
    | 'waiting'
    /** Streams. */
    | 'open'
    /** Sessions. */
    | 'behind'
    /** Pods. */
    | 'unguarded';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}
