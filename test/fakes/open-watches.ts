import type { ServerResponse } from 'node:http';
import { keyOf } from '#sandbox/api-server/storage/revision.ts';

/** The open watches of an API server, which can lose an event or end. */
export interface OpenWatches {
  readonly add: (path: string, response: ServerResponse) => void;
  /** The next removal of this object is not sent to the watches of this collection. */
  readonly loseRemoval: (collection: string, key: string) => void;
  readonly cut: (collection: string) => void;
}

/** The watches of a new API server. */
export function openWatches(): OpenWatches {
  const open = new Map<ServerResponse, string>();
  const lost = new Set<string>();

  function isLost(path: string, line: string): boolean {
    if (lost.size === 0 || line === '') return false;
    const { type, object } = JSON.parse(line) as { type: string; object: { metadata: ObjectKey } };
    return type === 'DELETED' && lost.delete(`${path} ${keyOf(object.metadata.namespace, object.metadata.name)}`);
  }

  return {
    add: (path, response) => {
      open.set(response, path);
      response.on('close', () => open.delete(response));
      const write = response.write.bind(response) as (text: string) => boolean;
      response.write = (chunk: Buffer | string) => {
        const lines = String(chunk).split('\n');
        return write(lines.filter((line) => !isLost(path, line)).join('\n'));
      };
    },
    loseRemoval: (collection, key) => void lost.add(`${collection} ${key}`),
    cut: (collection) => {
      for (const [response, path] of open) if (path === collection) response.destroy();
    },
  };
}

interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}
