import { describe, expect, test } from 'vitest';
import { createLog, type LogOptions } from '#shared/runtime/log.ts';

function lines(options: Partial<LogOptions>, speak: (log: ReturnType<typeof createLog>) => void): string[] {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  speak(createLog({ component: 'webhook', level: 'info', format: 'json', destination, ...options }));
  return written;
}

describe('createLog', () => {
  test('writes the level as a word, ISO time, logger and msg', () => {
    const [line = ''] = lines({}, (log) => log.warn({ port: 1 }, 'Listening'));
    const { time, ...rest } = JSON.parse(line) as Record<string, unknown>;
    expect(rest).toEqual({ level: 'warn', logger: 'webhook', msg: 'Listening', port: 1 });
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('hides tokens and patches wherever they stand', () => {
    const secret = {
      token: 's3cret',
      headers: { authorization: 's3cret' },
      answer: { patch: 's3cret' },
      deep: { request: { token: 's3cret' } },
    };
    const [line] = lines({}, (log) => log.info(secret, 'Called'));
    expect(line).not.toContain('s3cret');
  });

  test('keeps bodies and headers of API errors out, and the cause in', () => {
    const error = Object.assign(new Error('refused', { cause: new Error('why') }), { body: 's3cret', code: 'EX' });
    const [line = ''] = lines({}, (log) => log.error({ err: error }, 'Failed'));
    expect(line).not.toContain('s3cret');
    expect((JSON.parse(line) as { err: unknown }).err).toMatchObject({
      message: 'refused',
      code: 'EX',
      cause: { message: 'why' },
    });
  });

  test('writes plain lines as text, with control characters shown', () => {
    const [line = ''] = lines({ format: 'text' }, (log) =>
      log.info({ pod: 'a/b', note: 'x\u001b[31m\u202e' }, 'Pod refused'),
    );
    expect(line.slice(13)).toBe('INFO  webhook  Pod refused  pod=a/b  note="x\\u001b[31m\\u202e"\n');
  });
});
