import { type LeaseTerm, newIdentity, runWithLease } from '#shared/kube/lease/leader-lease.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { WebhookConfiguration } from './configuration.ts';

/** Work that only the leader does. It ends with the signal, and checks `isHeld` before each write. */
export interface LeaderDuty {
  run(signal: AbortSignal, term: LeaseTerm): Promise<void>;
}

export interface LeadershipOptions extends ClientContext {
  readonly lease: WebhookConfiguration['leaderElection'];
  readonly duties: readonly LeaderDuty[];
}

/** The election among the replicas. */
export interface Leadership {
  /** Takes part until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when this replica no longer leads and has released the lease. */
  close(): Promise<void>;
}

/** Runs the duties on the replica that holds the lease, and on no other. */
export function createLeadership(options: LeadershipOptions): Leadership {
  const { lease, duties, metrics } = options;
  const leads = metrics.gauge('plimsoll_webhook_leader', 'Whether this replica is the leader (1) or not (0)');
  leads.set(0);
  let running = Promise.resolve();

  async function lead(signal: AbortSignal, term: LeaseTerm): Promise<void> {
    leads.set(1);
    try {
      await Promise.all(duties.map((duty) => duty.run(signal, term)));
    } finally {
      leads.set(0);
    }
  }

  return {
    run: (signal) => {
      const identity = newIdentity();
      running = runWithLease({ ...options, name: lease.name, namespace: lease.namespace, identity, lead }, signal);
      return running;
    },
    close: () => running,
  };
}
