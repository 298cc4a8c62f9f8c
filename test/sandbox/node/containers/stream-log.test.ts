import { describe, expect, test } from 'vitest';
import { createLogBuffer, type LogBuffer, type LogRequest, streamLog } from '#sandbox/node/containers/log-buffer.ts';

const START = Date.UTC(2026, 0, 1);

function bufferOf(...lines: readonly string[]): LogBuffer {
  let now = START;
  const buffer = createLogBuffer(() => now);
  for (const line of lines) {
    buffer.write(`${line}\n`);
    now += 1_000;
  }
  return buffer;
}

function request(wanted: Partial<LogRequest> = {}): LogRequest {
  return {
    follow: false,
    timestamps: false,
    tailLines: undefined,
    sinceSeconds: undefined,
    limitBytes: undefined,
    signal: new AbortController().signal,
    ...wanted,
  };
}

async function textOf(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of stream) text += piece;
  return text;
}

describe('streamLog', () => {
  test.each([
    ['all of it', {}, 'one\ntwo\nthree\n'],
    ['the last lines', { tailLines: 1 }, 'three\n'],
    ['no line', { tailLines: 0 }, ''],
    ['more lines than there are', { tailLines: 9 }, 'one\ntwo\nthree\n'],
    ['the last seconds', { sinceSeconds: 1 }, 'two\nthree\n'],
    ['the first bytes', { limitBytes: 5 }, 'one\nt'],
    ['times in front', { timestamps: true, tailLines: 1 }, '2026-01-01T00:00:02.000Z three\n'],
  ])('gives %s', async (_what, wanted, text) => {
    expect(await textOf(streamLog(bufferOf('one', 'two', 'three'), request(wanted), START + 2_000))).toBe(text);
  });

  test('follows until the container ends', async () => {
    const buffer = bufferOf('one');
    const followed = textOf(streamLog(buffer, request({ follow: true }), START));
    buffer.write('two\nthr');
    await Promise.resolve();
    buffer.write('ee\nlast words');
    buffer.close();
    expect(await followed).toBe('one\ntwo\nthree\nlast words\n');
  });

  test('follows until the reader goes away', async () => {
    const reader = new AbortController();
    const followed = textOf(streamLog(bufferOf('one'), request({ follow: true, signal: reader.signal }), START));
    reader.abort();
    expect(await followed).toBe('one\n');
  });
});

test('createLogBuffer keeps a bounded number of bounded lines', () => {
  const buffer = createLogBuffer(() => START);
  for (let line = 0; line < 1_200; line += 1) buffer.write(`${line}\n`);
  buffer.write(`${'x'.repeat(10_000)}\n`);
  const lines = buffer.linesFrom(0);
  expect(lines).toHaveLength(1_000);
  expect(lines.at(-1)?.text).toHaveLength(4_096);
});
