import type { networkInterfaces } from 'node:os';

/** Every address of both families, as far as the kernel has them. */
export const ALL_ADDRESSES = '::';

/** Where IPv6 is off, a listener on every address is reached by 127.0.0.1 alone, and elsewhere perhaps by ::1 alone. */
export function ownAddress(address: string, interfaces: ReturnType<typeof networkInterfaces>): string {
  if (address !== ALL_ADDRESSES && address !== '0.0.0.0') return address;
  const loopbacks = Object.values(interfaces).flatMap((all) => all?.filter(({ internal }) => internal) ?? []);
  const hasOnlyIpv6 = loopbacks.length > 0 && loopbacks.every(({ family }) => family === 'IPv6');
  return address === ALL_ADDRESSES && hasOnlyIpv6 ? '::1' : '127.0.0.1';
}
