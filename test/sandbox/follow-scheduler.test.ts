import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { followScheduler, type ReviewedPreemption } from '#sandbox/follow-scheduler.ts';

const REVIEW = {
  pod: 'team-a/pending',
  node: 'n0',
  verdict: 'changed',
  code: 'ProtectedOptOut',
  text: 'pod a/b opted out',
};

function follow() {
  const reviews: ReviewedPreemption[] = [];
  return { reviews, ...followScheduler((review) => reviews.push(review)) };
}

describe('followScheduler', () => {
  test('passes on what the process changed, and nothing else that it writes', () => {
    const { reviews, onLine } = follow();
    onLine('no JSON');
    onLine('[]');
    onLine(JSON.stringify({ msg: 'Watch failed', node: 'n0' }));
    onLine(JSON.stringify({ ...REVIEW, verdict: 'kept' }));
    onLine(JSON.stringify({ level: 'info', ...REVIEW }));
    expect(reviews).toEqual([{ pod: 'team-a/pending', node: 'n0', verdict: 'changed', text: 'pod a/b opted out' }]);
  });

  test('knows the extender once the process says where it listens and has read the cluster', async () => {
    let status = 503;
    const health = createServer((_request, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => health.once('listening', resolve));
    const { onLine, extenderUrl } = follow();
    expect(await extenderUrl()).toBeUndefined();
    onLine(JSON.stringify({ port: 4711, healthPort: (health.address() as AddressInfo).port }));
    expect(await extenderUrl()).toBeUndefined();
    status = 200;
    expect(await extenderUrl()).toBe('http://127.0.0.1:4711');
    health.closeAllConnections();
    health.close();
  });
});
