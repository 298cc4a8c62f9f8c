import type { PodView } from '#shared/domain/quota/view/pod-view.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { decodeSeenPod } from '#shared/kube/decode-seen-pod.ts';
import { createPageSize } from '#shared/kube/page-size.ts';
import { CHARGED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import { readWatch } from '#shared/kube/read-watch.ts';
import type { Reading } from '#shared/kube/reflector-plan.ts';
import type { Target } from '#shared/kube/reflector-target.ts';
import { PODS } from '#shared/kube/resource.ts';
import { readRevision } from '#shared/kube/revision.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { revisionElsewhere } from './load-pods.ts';

export interface WatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly view: PodView;
  /** The server said something; the view may have moved on. */
  readonly heard: () => void;
  /** How long a watch shall stay open; some minutes where it is not said. */
  readonly watchSeconds: () => number | undefined;
}

/** Takes the changes of pods into a view from where it stands, until the watch ends, whatever ends it. */
export function watchPods(options: WatchOptions, signal: AbortSignal): Promise<Reading> {
  const { client, clock, random, view, heard, watchSeconds } = options;
  const target: Target = {
    client,
    resource: PODS,
    clock,
    random,
    watchSeconds,
    heard,
    pageSize: createPageSize(1),
    message: CHARGED_POD,
    passesOver: (pod, format) => revisionElsewhere(view, pod, format),
    store: {
      set: (raw) => view.put(decodeSeenPod(raw)),
      remove: (raw) => view.remove(decodeSeenPod(raw)),
      replace: () => () => undefined,
    },
    listed: () => undefined,
    moved: (resourceVersion) => view.reach(readRevision(resourceVersion) ?? 0),
  };
  return readWatch(target, String(view.position), signal);
}
