import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';

/** The way of one replica to the API server, which a test can cut, and in which it can hold writes back. */
export interface ReplicaClient {
  readonly client: KubeClient;
  /** Paths of all changes that the replica wanted to make, in their order; those of leases are left out. */
  readonly changes: readonly string[];
  /** While it is true, no new request reaches the API server. */
  isCut: boolean;
  /** Holds the next changes back, except those of leases, until `deliver`. */
  hold(): void;
  /** How many changes are held, and for how many of them the replica no longer waits. */
  readonly held: number;
  readonly abandoned: number;
  /** Sends what is held, even if its sender has given up: it was on its way. Resolves with the outcomes. */
  deliver(): Promise<readonly Outcome<unknown>[]>;
}

const CUT = { kind: 'unreachable', message: 'cut' } as const;

export function replicaClient(real: KubeClient): ReplicaClient {
  const changes: string[] = [];
  const late: (() => Promise<Outcome<unknown>>)[] = [];
  let isHolding = false;
  let abandoned = 0;

  function hold(request: KubeRequest): Promise<Outcome<unknown>> {
    const { signal, ...onItsWay } = request;
    return new Promise((resolve) => {
      const giveUp = (): void => {
        abandoned += 1;
        resolve({ kind: 'timeout', message: 'gave up' });
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      late.push(async () => {
        const outcome = await real.request(onItsWay);
        resolve(outcome);
        return outcome;
      });
    });
  }

  const replica = {
    changes,
    isCut: false,
    hold: () => void (isHolding = true),
    get held() {
      return late.length;
    },
    get abandoned() {
      return abandoned;
    },
    deliver: () => {
      isHolding = false;
      return Promise.all(late.splice(0).map((send) => send()));
    },
    client: {
      request: (request: KubeRequest): Promise<Outcome<unknown>> => {
        const isRecorded = isChange(request);
        if (isRecorded) changes.push(request.path);
        if (replica.isCut) return Promise.resolve(CUT);
        return isRecorded && isHolding ? hold(request) : real.request(request);
      },
      stream: (request: KubeRequest) => (replica.isCut ? Promise.resolve(CUT) : real.stream(request)),
      close: () => real.close(),
    },
  };
  return replica;
}

function isChange({ method = 'GET', path }: KubeRequest): boolean {
  return method !== 'GET' && !path.includes('/leases');
}
