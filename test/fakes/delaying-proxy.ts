import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { letTimePass } from '#test/build/waiting.ts';

/** Stands between a client and a server, and can hold back what the server says. */
export interface DelayingProxy {
  readonly port: number;
  /** Of what comes from the server from now on, in milliseconds. */
  delayMs: number;
  /** Ends every connection that is open now, with what was held back for it. */
  cut(): void;
  close(): Promise<void>;
}

/** Passes bytes on as they are, so that it works for TLS too. */
export async function delayingProxy(host: string, port: number): Promise<DelayingProxy> {
  const open = new Set<Socket>();
  const delay = { ms: 0 };
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const listener = createServer((client) => {
    const server = connect(port, host);
    tie(client, server, open);
    client.pipe(server);
    server.on('data', (bytes) => {
      if (delay.ms === 0) client.write(bytes);
      else void letTimePass(delay.ms, 'double').then(() => client.write(bytes));
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    get delayMs() {
      return delay.ms;
    },
    set delayMs(ms) {
      delay.ms = ms;
    },
    cut,
    close: () => {
      cut();
      return new Promise((resolve) => listener.close(() => resolve()));
    },
  };
}

/** What ends on one side ends on the other. */
function tie(client: Socket, server: Socket, open: Set<Socket>): void {
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    open.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        open.delete(socket);
        other.destroy();
      });
  }
}

const SERVER = /https:\/\/([\d.]+):(\d+)/;

/** A proxy to the API server of a kubeconfig, and a kubeconfig in `file` that leads through it. */
export async function proxyKubeconfig(kubeconfig: string, file: string): Promise<DelayingProxy> {
  const text = readFileSync(kubeconfig, 'utf8');
  const [, host = '', port = ''] = SERVER.exec(text) ?? [];
  const proxy = await delayingProxy(host, Number(port));
  writeFileSync(file, text.replace(SERVER, `https://127.0.0.1:${proxy.port}`), { mode: 0o600 });
  return proxy;
}
