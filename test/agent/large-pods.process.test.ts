import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { encodeEnvelope, encodeFrame, encodeMessage } from '#test/build/encode-message.ts';
import { eventually } from '#test/build/waiting.ts';
import { summaryNode } from './summary-node.ts';
import { wirePod } from './wire-node.ts';

const WITHIN = 60_000;
const PODS = '/api/v1/pods';
const ENFORCE = { mode: 'Enforce', evictionHard: { 'memory.available': '100Mi' } };
const MIB = 1024 * 1024;
/** The API server stores no larger object. */
const ENVIRONMENT = [{ name: 'A', value: 'x'.repeat(MIB) }];
const ANNOTATIONS = { 'example.com/data': 'x'.repeat(250 * 1024) };
/** What an agent reads at once, and per second after that (agent/observe/api-server/node-pods.ts). */
const BURST_MIB = 32;
const MIB_PER_SECOND = 8;
/** What is sent and not read yet: the kernel keeps up to 32 MiB received and 4 MiB to be sent, the processes less. */
const BUFFERED_MIB = 40;

const node = summaryNode();

/** A pod as large as a tenant can make it, in each version another one, as a watch in protocol buffers sends it. */
function frame(version: number): Buffer {
  const pod = wirePod({ name: 'large', requestMiB: 10, annotations: ANNOTATIONS });
  const { metadata, spec, status } = pod as unknown as Record<'metadata' | 'spec' | 'status', object>;
  const containers = [{ name: 'main', resources: { requests: { memory: '10Mi' } }, env: ENVIRONMENT }];
  const message = encodeMessage('io.k8s.api.core.v1.Pod', {
    metadata: { ...metadata, resourceVersion: String(version) },
    spec: { ...spec, containers },
    status,
  });
  return encodeFrame('MODIFIED', encodeEnvelope('v1', 'Pod', message));
}

/** Sends them as fast as the agent reads, until `isOver` is set. */
class Flood {
  mebibytes = 0;
  isOver = false;

  async send(response: ServerResponse): Promise<void> {
    const closed = once(response, 'close');
    response.writeHead(200, { 'content-type': 'application/vnd.kubernetes.protobuf;stream=watch' });
    for (let version = 1_000_000; !this.isOver && !response.destroyed; version += 1) {
      const event = frame(version);
      if (!response.write(event)) await Promise.race([once(response, 'drain'), closed]);
      this.mebibytes += event.length / MIB;
    }
  }
}

describe('pods as large as the API server stores', { timeout: 180_000 }, () => {
  test('are read at a pace, whatever a tenant sends, and do not delay an eviction (T-107)', async () => {
    Object.assign(node, { availableMiB: 700, usageMiB: { large: 10, hog: 300 } });
    const metadata = { annotations: { 'plimsoll.dev/confirmed-generation': '1' } };
    await node.start({ pods: [wirePod({ name: 'hog', requestMiB: 10 })], policy: ENFORCE, metadata });
    const { api } = node.agent;
    const watched = new Promise<ServerResponse>((resolve) => {
      api.onRequest = ({ path, isWatch }) =>
        path === PODS && isWatch ? { kind: 'stream', write: resolve } : undefined;
    });
    api.cutWatches(PODS);
    const response = await watched;
    await eventually(async () => expect(await node.passes()).toBeGreaterThan(20), WITHIN);
    const flood = new Flood();
    const startedAt = performance.now();
    const sending = flood.send(response);
    try {
      await eventually(() => expect(flood.mebibytes).toBeGreaterThan(BURST_MIB + BUFFERED_MIB), WITHIN);
      node.availableMiB = 40;
      await eventually(() => expect(node.asked()).toEqual(['hog']), WITHIN);
      const seconds = (performance.now() - startedAt) / 1000;
      expect(flood.mebibytes).toBeLessThan(BURST_MIB + BUFFERED_MIB + MIB_PER_SECOND * seconds);
    } finally {
      flood.isOver = true;
      await sending;
    }
  });
});
