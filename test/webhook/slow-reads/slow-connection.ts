import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { afterAll } from 'vitest';
import { proxyKubeconfig, type DelayingProxy } from '#test/fakes/delaying-proxy.ts';

/** A connection to the API server that can be made slow. */
export interface SlowConnection {
  /** The kubeconfig that leads there, for one that leads there directly. */
  readonly toApiServer: (kubeconfig: string) => Promise<string>;
  readonly proxy: () => DelayingProxy;
}

/** Registers a hook of the present `describe` that ends it. */
export function slowConnection(): SlowConnection {
  const file = join(tmpdir(), `plimsoll-slow-${randomUUID()}.kubeconfig`);
  const found: { proxy?: DelayingProxy } = {};
  afterAll(async () => {
    await found.proxy?.close();
    rmSync(file, { force: true });
  });
  return {
    toApiServer: async (kubeconfig) => {
      found.proxy ??= await proxyKubeconfig(kubeconfig, file);
      return file;
    },
    proxy: () => {
      if (found.proxy === undefined) throw new Error('the proxy is not up');
      return found.proxy;
    },
  };
}
