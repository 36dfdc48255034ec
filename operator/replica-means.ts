import type { Clock } from '#core/bounds/clock.ts';
import type { Log } from '#core/runtime/log.ts';
import type { OperatorMetrics } from '#core/runtime/operator-metrics.ts';
import type { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { Connection } from '#operator/kube/connect.ts';
import type { OpenAudit } from './open-audit.ts';
import type { OperatorSettings } from './settings.ts';

/** What the parts of every replica have in common. */
export interface ReplicaMeans {
  readonly settings: OperatorSettings;
  readonly connection: Connection;
  readonly cluster: Cluster;
  readonly certificates: ServingCertificates;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: OperatorMetrics;
  readonly audit: OpenAudit;
}
