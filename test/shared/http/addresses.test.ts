import { get } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { ALL_ADDRESSES, ownAddress } from '#shared/http/addresses.ts';
import { serve } from '#shared/http/serve.ts';

type Interfaces = ReturnType<typeof networkInterfaces>;

const loopback = (...families: readonly ('IPv4' | 'IPv6')[]) =>
  ({ lo: families.map((family) => ({ family, internal: true })) }) as unknown as Interfaces;

describe('the address to reach a listener by', () => {
  test.each<[string, Interfaces, string]>([
    ['::', loopback('IPv4', 'IPv6'), '127.0.0.1'],
    ['::', loopback('IPv4'), '127.0.0.1'],
    ['::', loopback('IPv6'), '::1'],
    ['::', {}, '127.0.0.1'],
    ['0.0.0.0', loopback('IPv4', 'IPv6'), '127.0.0.1'],
    ['fd00::7', loopback('IPv4'), 'fd00::7'],
    ['10.0.0.7', loopback('IPv6'), '10.0.0.7'],
  ])('listening on %s, with %j, is %s', (address, interfaces, own) => {
    expect(ownAddress(address, interfaces)).toBe(own);
  });

  test('a listener on every address answers in both families, as far as this machine has them', async () => {
    const server = await serve({ handler: (_, response) => response.end('hello'), host: ALL_ADDRESSES, port: 0 });
    const internal = Object.values(networkInterfaces()).flatMap((all) => all?.filter((each) => each.internal) ?? []);
    for (const { address, family } of internal) {
      const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${server.port}`;
      const status = await new Promise((resolve, reject) => {
        get(url, (response) => resolve(response.resume().statusCode)).on('error', reject);
      });
      expect([url, status]).toEqual([url, 200]);
    }
    await server.close();
  });
});
