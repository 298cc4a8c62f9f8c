import type { Because } from '#shared/domain/model/because.ts';
import type { OwnerKey } from '#shared/domain/pod/owner-key.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { AttemptOutcome } from './apply-outcome.ts';
import type { Decision } from './decide.ts';
import type { Eviction } from './eviction.ts';
import type { Stage } from './eviction/inflight-eviction.ts';
import type { NodeSnapshot } from './snapshot/node-snapshot.ts';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';

/** One pass: its snapshot, the policy in force, and the decision. */
export interface PassResult {
  readonly snapshot: NodeSnapshot;
  readonly policy: AgentPolicy;
  readonly decision: Decision;
}

/** The outcome of an attempt, also of a dry run, for log, Events and status. */
export interface Attempt {
  readonly eviction: Eviction;
  readonly outcome: AttemptOutcome;
}

/** One eviction as the status and the dashboard show it; times are wall time. */
export interface EvictionRecord {
  readonly pod: Pick<Pod, 'namespace' | 'name' | 'uid'>;
  readonly owner: OwnerKey | undefined;
  readonly signal: Signal;
  readonly stage: Stage;
  readonly mode: Mode;
  readonly outcome: AttemptOutcome['kind'] | 'requested';
  readonly requestedAt: Instant;
  readonly endedAt: Instant | undefined;
  readonly because: Because;
}
