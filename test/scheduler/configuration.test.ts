import { expect, test } from 'vitest';
import { schedulerSchema } from '#scheduler/configuration.ts';

test.each([
  ['a certificate without its key', { certFile: 'cert' }, 'certFile and keyFile are needed together'],
  [
    'an authority of callers without TLS',
    { clientCaFile: 'ca' },
    'clientCaFile requires certFile: without TLS, clients present no certificate',
  ],
])('%s is refused', (_, tls, message) => {
  const parsed = schedulerSchema.safeParse({ tls });
  expect(parsed.error?.issues.map((issue) => issue.message)).toEqual([message]);
});
