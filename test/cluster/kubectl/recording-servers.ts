import { once } from 'node:events';
import { createServer as createPlainServer, type IncomingMessage, type Server } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';

/** What a request says about its sender. */
export interface RecordedRequest {
  readonly protocol: 'http' | 'https';
  readonly url: string | undefined;
  readonly serverName: string | undefined;
  readonly certificate: string | undefined;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly proxied: boolean;
}

export interface RecordingServers {
  readonly https: number;
  readonly http: number;
  readonly proxy: number;
  readonly ca: string;
  /** A certificate that another authority issued. */
  readonly otherCa: string;
  readonly clients: Readonly<Record<string, { readonly cert: string; readonly key: string }>>;
  /** The requests since the last call. */
  take(): readonly RecordedRequest[];
  close(): void;
}

/** Two servers that answer every request with an empty object and a proxy before them; they keep what they receive. */
export async function startRecordingServers(): Promise<RecordingServers> {
  const now = Date.now();
  const authority = createAuthority({ commonName: 'authority', days: 1, now });
  const issue = (commonName: string) => {
    const names = { commonName, dnsNames: ['localhost', 'api.test'], ipAddresses: ['127.0.0.1'] };
    const { certPem: cert, keyPem: key } = issueServerCertificate(authority, { ...names, days: 1, now });
    return { cert, key };
  };
  const requests: RecordedRequest[] = [];
  const tunnels = new Set<number>();
  const answer = (protocol: 'http' | 'https') => (request: IncomingMessage, response: NodeJS.WritableStream) => {
    requests.push(recorded(protocol, request, tunnels.has(request.socket.remotePort ?? 0)));
    response.end('{"kind":"Answer"}');
  };
  const secure = createServer({ ...issue('api'), requestCert: true, rejectUnauthorized: false }, answer('https'));
  const plain = createPlainServer(answer('http'));
  const proxy = startProxy(tunnels);
  const [https, http, proxyPort] = await Promise.all([listen(secure), listen(plain), listen(proxy)]);
  return {
    https,
    http,
    proxy: proxyPort,
    ca: authority.certPem,
    otherCa: createAuthority({ commonName: 'other', days: 1, now }).certPem,
    clients: { jane: issue('jane'), robot: issue('robot') },
    take: () => requests.splice(0),
    close: () => {
      for (const server of [secure, plain, proxy]) server.close();
    },
  };
}

function recorded(protocol: 'http' | 'https', request: IncomingMessage, proxied: boolean): RecordedRequest {
  const own = Object.entries(request.headersDistinct).filter(([name]) => /^(?:authorization|impersonate-)/.test(name));
  return {
    protocol,
    url: request.url,
    ...tlsOf(request.socket),
    headers: Object.fromEntries(own.map(([name, values = []]) => [name, values.toSorted()] as const).toSorted()),
    proxied: proxied || request.url?.startsWith('http:') === true,
  };
}

function tlsOf(socket: Socket): Pick<RecordedRequest, 'serverName' | 'certificate'> {
  if (!(socket instanceof TLSSocket)) return { serverName: undefined, certificate: undefined };
  const { servername } = socket as { readonly servername?: unknown };
  const { subject } = socket.getPeerCertificate() as { readonly subject?: { readonly CN?: unknown } };
  return { serverName: textOf(servername), certificate: textOf(subject?.CN) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Knows CONNECT; requests for http it passes on as they are. */
function startProxy(tunnels: Set<number>): Server {
  const server = createPlainServer((request, response) => {
    const { port } = new URL(request.url ?? '');
    const upstream = connect(Number(port), '127.0.0.1', () => {
      tunnels.add(upstream.localPort ?? 0);
      const lines = request.rawHeaders.flatMap((each, at) =>
        at % 2 === 0 ? [`${each}: ${request.rawHeaders[at + 1]}`] : [],
      );
      upstream.end(
        [`GET ${new URL(request.url ?? '').pathname} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'),
      );
    });
    upstream.on('error', () => response.destroy()).on('close', () => response.end('{"kind":"Answer"}'));
    upstream.resume();
  });
  server.on('connect', ({ url = '' }: IncomingMessage, socket: Socket) => {
    const upstream = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      tunnels.add(upstream.localPort ?? 0);
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    socket.on('error', () => undefined).on('close', () => upstream.destroy());
    upstream.on('error', () => undefined).on('close', () => socket.destroy());
  });
  return server;
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
