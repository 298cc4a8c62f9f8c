import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { apiVersionOf, type Resource } from '#shared/kube/resource.ts';
import { systemClock, NOT_ABORTED } from '#shared/runtime/clock.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { withCluster } from './open-cluster.ts';

/** Which objects are watched. */
export interface WatchedObjects extends ClusterOptions {
  readonly resource: Resource;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
}

/** Agents report every ten seconds, each at its own time: what changes within a second is shown together. */
const PAUSE_MS = 1_000;
const LOST = 'Warning: the connection to the API server was lost; what changed meanwhile is shown when it is back';

/** Calls back with all objects of a kind after each change, once a second at most; never resolves. */
export async function watchObjects(
  { resource, namespace, ...cluster }: WatchedObjects,
  io: Pick<ProcessIo, 'tell'>,
  show: (objects: readonly Manifest[]) => Promise<void>,
): Promise<void> {
  const made = { apiVersion: apiVersionOf(resource), kind: resource.kind, where: 'cluster' };
  await withCluster(cluster, async ({ client }) => {
    const reflector = createReflector<Manifest>({
      client,
      resource,
      clock: systemClock,
      random: Math.random,
      log: { warn: () => io.tell(LOST), error: (_: unknown, text = '') => io.tell(`error: ${text}`) },
      slim: (raw) => ({ ...made, raw: { ...raw } }),
      ...(namespace !== undefined && { namespace }),
    });
    let changed = Promise.withResolvers<undefined>();
    reflector.onChange(() => changed.resolve(undefined));
    void reflector.run(NOT_ABORTED);
    await reflector.synced;
    for (;;) {
      changed = Promise.withResolvers();
      await show([...reflector.values()]);
      await changed.promise;
      await systemClock.sleep(PAUSE_MS);
    }
  });
}
