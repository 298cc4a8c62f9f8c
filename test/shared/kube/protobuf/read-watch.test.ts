import { describe, expect, test } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createPageSize } from '#shared/kube/reflector/reflector-target.ts';
import { CHARGED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import { PROTOBUF, PROTOBUF_OR_JSON } from '#shared/kube/protobuf/envelope.ts';
import { readWatch } from '#shared/kube/reflector/read-watch.ts';
import { PODS } from '#shared/kube/resource.ts';
import { peekPodMessage } from '#shared/kube/decode/decode-seen-pod.ts';
import { chunks } from '#test/build/chunks.ts';
import { bytesField, encodeEnvelope, encodeFrame, encodeMessage } from '#test/build/encode-message.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

function podFrame(type: string, namespace: string, resourceVersion?: string): Buffer {
  const metadata = { name: 'web', namespace, uid: `of-${resourceVersion ?? ''}`, resourceVersion };
  return encodeFrame(type, encodeEnvelope('v1', 'Pod', encodeMessage('io.k8s.api.core.v1.Pod', { metadata })));
}

const TOO_OLD = encodeFrame(
  'ERROR',
  encodeEnvelope(
    'v1',
    'Status',
    Buffer.concat([bytesField(3, Buffer.from('too old')), Buffer.from([0x30, 0x9a, 0x03])]),
  ),
);

async function watch(...frames: readonly Buffer[]) {
  const heard: string[] = [];
  const accepted: (string | undefined)[] = [];
  const client: Pick<KubeClient, 'stream'> = {
    stream: ({ accept }) => {
      accepted.push(accept);
      const bytes = chunks(Buffer.concat(frames), 7);
      const object = {
        mediaType: `${PROTOBUF};stream=watch`,
        close: () => undefined,
        [Symbol.asyncIterator]: () => bytes,
      };
      return Promise.resolve({ kind: 'ok', object, warnings: [] });
    },
  };
  const target = {
    client: client as KubeClient,
    resource: PODS,
    message: CHARGED_POD,
    clock: manualClock(),
    random: () => 0,
    pageSize: createPageSize(1),
    shouldSkip: (pod: Buffer) => {
      const head = peekPodMessage(pod);
      return head?.namespace === 'elsewhere' ? head.resourceVersion : undefined;
    },
    store: {
      set: (raw: { readonly metadata: object }) => void heard.push(`set ${JSON.stringify(raw.metadata)}`),
      remove: (raw: { readonly metadata: object }) => void heard.push(`removed ${JSON.stringify(raw.metadata)}`),
      replace: () => () => undefined,
    },
    onActivity: () => undefined,
    onListed: () => undefined,
    onPosition: (version: string) => void heard.push(version),
  };
  const { ending } = await readWatch(target, '1', new AbortController().signal);
  return { heard, ending, accepted };
}

describe('a watch in protocol buffers', () => {
  test('is asked for, and its events are taken in', async () => {
    const frames = [podFrame('ADDED', 'a', '5'), podFrame('DELETED', 'a', '6'), podFrame('BOOKMARK', '', '9')];
    const { heard, ending, accepted } = await watch(...frames);
    const metadata = { name: 'web', namespace: 'a' };
    expect(heard).toEqual([
      `set ${JSON.stringify({ ...metadata, uid: 'of-5', resourceVersion: '5' })}`,
      '5',
      `removed ${JSON.stringify({ ...metadata, uid: 'of-6', resourceVersion: '6' })}`,
      '6',
      '9',
    ]);
    expect(ending).toEqual({ kind: 'ended', wasShort: false });
    expect(accepted).toEqual([PROTOBUF_OR_JSON]);
  });

  test('what is passed over still moves it on', async () => {
    expect((await watch(podFrame('MODIFIED', 'elsewhere', '8'))).heard).toEqual(['8']);
  });

  test('an error of the server ends it', async () => {
    const { ending } = await watch(TOO_OLD, podFrame('ADDED', 'a', '5'));
    expect(ending).toMatchObject({ kind: 'refused', failure: { kind: 'gone', message: 'too old' } });
  });

  test.each<[string, Buffer]>([
    ['an unknown event', podFrame('FUTURE', 'a', '5')],
    ['a pod without a version', podFrame('ADDED', 'a')],
    ['what is no event', Buffer.from([0, 0, 0, 1, 0xff])],
  ])('%s ends it', async (_, frame) => {
    expect((await watch(frame)).ending.kind).toBe('unreadable');
  });
});
