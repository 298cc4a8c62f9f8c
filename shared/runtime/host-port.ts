import { isIPv6 } from 'node:net';

/** `host:port` as in a URL, where an IPv6 address needs brackets; one that has them keeps them. */
export function hostPort(host: string, port: number | string): string {
  return `${bracketed(host)}:${port}`;
}

/** A host as it stands in a URL. */
export function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** A URL's host as sockets, certificates and ranges have it. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(?<address>.*)\]$/, '$<address>');
}
