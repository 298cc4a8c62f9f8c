import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomSource, type RandomSource } from '#test/fakes/random-source.ts';
import { BAD_INPUTS } from './bad-inputs.ts';
import { runWebhook, type RunningWebhook } from './webhook-process.ts';

const MUTATIONS = 1_000;
const LARGEST_BYTES = 64 * 1024;
const CPU_MS_EACH = 50;
const KEPT_MIB = 32;

/** Cuts, doubles, flips or replaces a piece of a body. */
function mutate(body: Buffer, random: RandomSource): Buffer {
  const at = random.below(Math.max(1, body.length));
  const length = random.below(20);
  const piece = body.subarray(at, at + length);
  switch (random.below(4)) {
    case 0:
      return Buffer.concat([body.subarray(0, at), body.subarray(at + length)]);
    case 1:
      return Buffer.concat([body.subarray(0, at), piece, body.subarray(at)]);
    case 2:
      return Buffer.concat([body.subarray(0, at), Buffer.of(random.below(256)), body.subarray(at + 1)]);
    default:
      return Buffer.concat([
        body.subarray(0, at),
        Buffer.from(random.pick(['null', '{}', '[]', '-1', '1e999', '"x"', ','])),
        body.subarray(at + length),
      ]);
  }
}

describe('mutations of bad inputs', () => {
  let webhook: RunningWebhook;
  // A busy machine must not make a slow answer out of a right one: the time per input is asserted below, as CPU time.
  beforeAll(async () => (webhook = await runWebhook(undefined, { requestSeconds: 10 })));
  afterAll(() => webhook.stop());

  test(`each of them ${MUTATIONS} times: one answer, in time, and memory back to base`, async () => {
    const random = randomSource(20_260_101);
    const inputs = BAD_INPUTS.filter(({ body }) => Buffer.byteLength(body) < LARGEST_BYTES);
    const statuses = new Map<number, number>();
    const before = process.memoryUsage().heapUsed;
    const cpu = process.cpuUsage();
    for (const { path = '/mutate', body, headers } of inputs) {
      for (let round = 0; round < MUTATIONS; round += 1) {
        const { status } = await webhook.post(path, mutate(Buffer.from(body), random), headers);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }
    const { user, system } = process.cpuUsage(cpu);
    expect((user + system) / 1_000 / (inputs.length * MUTATIONS)).toBeLessThan(CPU_MS_EACH);
    const unexpected = [...statuses.keys()].filter((status) => ![200, 400, 404, 415].includes(status));
    expect(unexpected, webhook.logged.filter((line) => line.includes('"error"')).join('')).toEqual([]);
    globalThis.gc?.();
    expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(KEPT_MIB);
  });
});
