import type { PodView } from '#shared/domain/quota/view/pod-view.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { decodeSeenPod } from '#shared/kube/decode/decode-seen-pod.ts';
import { createPageSize, type Target } from '#shared/kube/reflector/reflector-target.ts';
import { CHARGED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import { readWatch } from '#shared/kube/reflector/read-watch.ts';
import type { Reading } from '#shared/kube/reflector/reflector-plan.ts';
import { PODS } from '#shared/kube/resource.ts';
import { readRevision } from '#shared/kube/kube-object.ts';
import { revisionElsewhere } from './load-pods.ts';

export interface WatchOptions extends Pick<ClientContext, 'client' | 'clock' | 'random'> {
  readonly view: PodView;
  /** The server sent something; the view may have advanced. */
  readonly heard: () => void;
  /** How long a watch stays open; some minutes if `undefined`. */
  readonly watchSeconds: () => number | undefined;
}

/** Watches pods from the view's position on and applies their changes to it, until the watch ends for any reason. */
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
