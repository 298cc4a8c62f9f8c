import { get } from 'node:http';
import { Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ALL_ADDRESSES, ownAddress } from '#shared/http/addresses.ts';
import { serve } from '#shared/http/serve.ts';
import { hostPort } from '#shared/runtime/host-port.ts';

type Interfaces = ReturnType<typeof networkInterfaces>;

const loopback = (...families: readonly ('IPv4' | 'IPv6')[]) =>
  ({ lo: families.map((family) => ({ family, internal: true })) }) as unknown as Interfaces;

type FallbackCase = [host: string, code: string, url: string, own: string];

const WITHOUT_IPV4: FallbackCase = ['127.0.0.1', 'EADDRNOTAVAIL', 'http://[::1]', '::1'];
const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));

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
    for (const { address } of internal) {
      const url = `http://${hostPort(address, server.port)}`;
      const status = await new Promise((resolve, reject) => {
        get(url, (response) => resolve(response.resume().statusCode)).on('error', reject);
      });
      expect([url, status]).toEqual([url, 200]);
    }
    await server.close();
  });

  test.each<FallbackCase>([
    [ALL_ADDRESSES, 'EAFNOSUPPORT', 'http://0.0.0.0', '127.0.0.1'],
    [ALL_ADDRESSES, 'EADDRNOTAVAIL', 'http://0.0.0.0', '127.0.0.1'],
    ...(hasIpv6 ? [WITHOUT_IPV4] : []),
  ])('where the kernel has no family of %s (%s), it listens on %s', async (host, code, url, own) => {
    kernelWithout(host, code);
    const server = await serve({ handler: (_, response) => response.end(), host, port: 0 });
    expect([server.url, server.ownAddress]).toEqual([`${url}:${server.port}`, own]);
    await server.close();
  });

  test('an address that this machine does not have is refused, with brackets where it needs them', async () => {
    const starting = serve({ handler: (_, response) => response.end(), host: '2001:db8::7', port: 4711 });
    await expect(starting).rejects.toThrow(/^cannot listen on "\[2001:db8::7\]:4711": /);
  });
});

/** Listening there fails as on a machine without addresses of that family. */
function kernelWithout(host: string, code: string): void {
  const listen = Reflect.get(Server.prototype, 'listen') as (...options: readonly unknown[]) => Server;
  const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...options: unknown[]) {
    if (options[1] !== host) return listen.apply(this, options);
    queueMicrotask(() => this.emit('error', Object.assign(new Error(`listen ${code}`), { code })));
    return this;
  });
  onTestFinished(() => spy.mockRestore());
}
