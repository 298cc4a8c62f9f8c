import { expect, test } from 'vitest';
import { bracketed, hostPort, withoutBrackets } from '#shared/runtime/host-port.ts';

test.each<[host: string, port: number | string, expected: string]>([
  ['10.0.0.7', 443, '10.0.0.7:443'],
  ['plimsoll-webhook.plimsoll-system.svc', '443', 'plimsoll-webhook.plimsoll-system.svc:443'],
  ['localhost', 0, 'localhost:0'],
  ['::', 8080, '[::]:8080'],
  ['::1', 10_250, '[::1]:10250'],
  ['fd00::7', '6443', '[fd00::7]:6443'],
  ['2001:db8:0:0:0:0:0:7', 443, '[2001:db8:0:0:0:0:0:7]:443'],
  ['::ffff:10.0.0.7', 443, '[::ffff:10.0.0.7]:443'],
  ['[fd00::7]', 443, '[fd00::7]:443'],
])('%s and port %s are joined to %s', (host, port, expected) => {
  expect(hostPort(host, port)).toBe(expected);
  expect(URL.canParse(`https://${expected}`)).toBe(true);
});

test.each(['10.0.0.7', 'api.example', '::1', 'fd00::7'])('a URL gives %s back', (host) => {
  expect(withoutBrackets(new URL(`https://${bracketed(host)}:443`).hostname)).toBe(host);
});
