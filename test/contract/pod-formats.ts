import { describe, expect, test } from 'vitest';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeSeenPod } from '#shared/kube/decode/decode-seen-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { createPageSize } from '#shared/kube/reflector/reflector-target.ts';
import { decodeMessage, type WireMessage } from '#shared/kube/protobuf/decode-message.ts';
import { isProtobuf } from '#shared/kube/protobuf/envelope.ts';
import { CHARGED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import { readPages } from '#shared/kube/reflector/read-list.ts';
import { readWatch } from '#shared/kube/reflector/read-watch.ts';
import type { EndedReading } from '#shared/kube/reflector/reflector-plan.ts';
import { PODS } from '#shared/kube/resource.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { contractHarness, pod, type ContractTarget } from './harness.ts';

const WATCH_SECONDS = 2;
const resources = {
  requests: { cpu: '250m', memory: '512Mi', 'example.test/widgets': '3' },
  limits: { memory: '1Gi', 'example.test/widgets': '3' },
};
const container = { name: 'main', image: 'registry.test/app:v1', env: [{ name: 'A', value: 'ä"\\' }], resources };
/** Each has something else that quotas look at. */
const SPECS: Readonly<Record<string, object>> = {
  plain: { containers: [container] },
  many: { containers: [container, { ...container, name: 'proxy', resources: { limits: { cpu: '1e-1' } } }] },
  starting: {
    containers: [container],
    initContainers: [
      { ...container, name: 'sidecar', restartPolicy: 'Always' },
      { ...container, name: 'first', resources: { requests: { cpu: '3' } } },
    ],
  },
  whole: { containers: [{ ...container, resources: {} }], resources: { requests: { cpu: '2', memory: '3Gi' } } },
};

/** Pods in the format that informers of Kubernetes use say the same as those in JSON. Where there is none, JSON comes. */
export function podFormatsContract(target: () => ContractTarget): void {
  const api = contractHarness(target);

  function seeing(): { readonly client: KubeClient; readonly mediaTypes: (string | undefined)[] } {
    const mediaTypes: (string | undefined)[] = [];
    const stream: KubeClient['stream'] = async (request) => {
      const opened = await api.client.stream(request);
      if (opened.kind === 'ok') mediaTypes.push(opened.object.mediaType);
      return opened;
    };
    return { client: { ...api.client, stream }, mediaTypes };
  }

  async function listed(message: WireMessage | undefined, resourceVersion?: string) {
    const { client, mediaTypes } = seeing();
    const source = { client, clock, resource: PODS, namespace: api.namespace, ...(message && { message }) };
    const pods: SeenPod[] = [];
    const options = { pageSize: createPageSize(2), resourceVersion, signal: AbortSignal.timeout(20_000) };
    const pages = await readPages(source, options, (item, format) => {
      const raw = format === 'json' ? parseItem(item) : decodeMessage(CHARGED_POD, item);
      pods.push(decodeSeenPod(raw as KubeObject));
    });
    return { pages, pods, mediaTypes };
  }

  async function watched(message: WireMessage | undefined, resourceVersion: string) {
    const { client, mediaTypes } = seeing();
    const events: (SeenPod | string)[] = [];
    const target = {
      client,
      clock,
      resource: PODS,
      namespace: api.namespace,
      ...(message && { message }),
      pageSize: createPageSize(1),
      random: () => 0,
      watchSeconds: () => WATCH_SECONDS,
      onActivity: () => undefined,
      onListed: () => undefined,
      onPosition: (version: string) => void events.push(version),
      store: {
        set: (raw: KubeObject) => void events.push(decodeSeenPod(raw)),
        remove: (raw: KubeObject) => void events.push('gone', decodeSeenPod(raw)),
        replace: () => () => undefined,
      },
    };
    const reading: EndedReading = await readWatch(target, resourceVersion, AbortSignal.timeout(20_000));
    return { reading, events, mediaTypes };
  }

  describe('pods in protocol buffers', () => {
    test('are as in JSON: in a list of several pages, and in a watch of all that happened', async () => {
      const before = await listed(undefined);
      for (const [name, spec] of Object.entries(SPECS)) await create(name, spec);
      await api.remove(api.core('pods/plain'), { gracePeriodSeconds: 0 });
      const [inJson, inProtobuf] = [await listed(undefined), await listed(CHARGED_POD)];
      expect(inJson.pods.map(({ name }) => name)).toEqual(['many', 'starting', 'whole']);
      expect(inProtobuf.pods).toEqual(inJson.pods);
      // Something else may have changed between the two.
      expect(inProtobuf.pages).toEqual({ kind: 'read', resourceVersion: expect.stringMatching(/^\d+$/) as string });
      const from = before.pages.kind === 'read' ? before.pages.resourceVersion : '';
      const [lines, frames] = [await watched(undefined, from), await watched(CHARGED_POD, from)];
      expect(lines.events).toEqual(expect.arrayContaining(['gone', ...inJson.pods]));
      expect(withoutBookmarks(frames.events)).toEqual(withoutBookmarks(lines.events));
      const ofReal = target().kind === 'real';
      expect([...inProtobuf.mediaTypes, ...frames.mediaTypes].map(isProtobuf)).toEqual([ofReal, ofReal, ofReal]);
    });

    test('a refusal is as in JSON', async () => {
      const inJson = await watched(undefined, 'never');
      expect(inJson.reading.ending).toMatchObject({ kind: 'refused', failure: { status: 500 } });
      expect((await watched(CHARGED_POD, 'never')).reading).toEqual(inJson.reading);
    });
  });

  async function create(name: string, spec: object): Promise<void> {
    const answer = await api.post(api.core('pods'), pod(name, spec));
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  }
}

/** How many come, and when, is not said anywhere. */
function withoutBookmarks(events: readonly (SeenPod | string)[]): readonly (SeenPod | string)[] {
  return events.filter((event) => typeof event !== 'string' || event === 'gone');
}
