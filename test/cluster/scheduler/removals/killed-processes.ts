import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { createObject } from '#shared/kube/client/objects.ts';
import { DISRUPTION_POLICIES } from '#shared/kube/resource.ts';
import { registerFully } from '#webhook/registration/registration.ts';
import { accountKubeconfig, WEBHOOK } from '#test/cluster/support/accounts.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { roundRobin } from '#test/cluster/support/round-robin.ts';
import { startShipped } from '#test/cluster/support/shipped-set.ts';
import { startWebhookProcess } from '#test/cluster/support/webhook-process.ts';

const WEBHOOKS = 5;
/** The records of a long run are more than a namespace keeps by default. */
const KEPT = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'DisruptionPolicy',
  metadata: { name: 'plimsoll' },
  spec: { retention: { perNamespace: 5_000 } },
};
/** As deployed: the replicas share their CA. */
const SHARED_AUTHORITY = { tls: { secretName: 'plimsoll-webhook-tls', secretNamespace: 'plimsoll-system' } };

/** A process that can be killed and started again. */
interface Replica {
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Five webhooks and two recorders of removals. They are killed in turn, each by SIGKILL, and start again at once. */
export async function killedProcesses(own: OwnCluster) {
  const { admin, cluster } = own;
  const [frontPort = 0, ...ports] = await freePorts(WEBHOOKS + 3);
  const front: Server = roundRobin(frontPort, ports.slice(0, WEBHOOKS));
  const target = { kind: 'url', url: `https://127.0.0.1:${frontPort}` } as const;
  await registerFully(admin, { target, failurePolicy: 'Ignore', gatedCallers: [] });
  expect(await createObject(admin, { resource: DISRUPTION_POLICIES }, KEPT)).toMatchObject({ kind: 'ok' });
  const place = { folder: dirname(cluster.kubeconfig), kubeconfig: await accountKubeconfig(own, WEBHOOK) };
  const starts: readonly (() => Promise<Replica>)[] = ports.map((port, index) =>
    index < WEBHOOKS
      ? () => startWebhookProcess(place, { port, ...SHARED_AUTHORITY })
      : () => startShipped(own, 'disruption-record', [], { port }),
  );
  const replicas = await Promise.all(starts.map((start) => start()));
  return {
    /** Webhooks and recorders take turns. */
    killNext: async (turn: number): Promise<void> => {
      const index = turn % 2 === 0 ? (turn / 2) % WEBHOOKS : WEBHOOKS + (((turn - 1) / 2) % 2);
      await replicas[index]?.kill();
      const again = await starts[index]?.();
      if (again !== undefined) replicas[index] = again;
    },
    stop: async (): Promise<void> => {
      front.close();
      await Promise.all(replicas.map((each) => each.stop()));
    },
  };
}
