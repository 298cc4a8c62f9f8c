import type { CountedEviction } from '#shared/domain/eviction/count-eviction.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf, isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { createObject, getObject, replaceObject } from '#shared/kube/client/objects.ts';
import { CONFIG_MAPS } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import { ERRORS } from '#webhook/messages.ts';

/** The stored value and the resourceVersion that a write requires. */
export interface StoredEvictions {
  readonly evictions: readonly CountedEviction[];
  readonly version: string | undefined;
}

/** Where replicas keep the evictions that they allowed. */
export interface EvictionStore {
  /** Rejects when it cannot be read. */
  read(timeoutMs: number): Promise<StoredEvictions>;
  /** False when another replica was faster. Rejects when it cannot be written. */
  write(stored: StoredEvictions, timeoutMs: number): Promise<boolean>;
}

/** Where the count is shared, if at all. */
export interface EvictionStoreSettings {
  readonly configMapName?: string | undefined;
  readonly configMapNamespace: string;
}

/** The store that the settings select. */
export function evictionStore(
  client: KubeClient,
  { configMapName, configMapNamespace }: EvictionStoreSettings,
): EvictionStore {
  if (configMapName === undefined) return memoryEvictionStore();
  return configMapEvictionStore(client, configMapNamespace, configMapName);
}

/** For a single replica: lost when the process ends. */
export function memoryEvictionStore(): EvictionStore {
  let evictions: readonly CountedEviction[] = [];
  return {
    read: () => Promise.resolve({ evictions, version: undefined }),
    write: (stored) => {
      ({ evictions } = stored);
      return Promise.resolve(true);
    },
  };
}

const KEY = 'evictions.json';

/**
 * A ConfigMap that all replicas share. The manifests create it empty, because RBAC cannot limit the right to create by
 * name; if it is missing, it is created if that is allowed.
 */
export function configMapEvictionStore(client: KubeClient, namespace: string, name: string): EvictionStore {
  const address = { resource: CONFIG_MAPS, namespace, name };
  const what = `ConfigMap "${namespace}/${name}"`;
  return {
    read: async (timeoutMs) => {
      const found = await getObject(client, address, { timeoutMs });
      if (found.kind === 'notFound') return { evictions: [], version: undefined };
      if (found.kind !== 'ok') throw new Error(ERRORS.read(what, found.message));
      return { evictions: decodeEvictions(found.object, what), version: found.object.metadata.resourceVersion };
    },
    write: async ({ evictions, version }, timeoutMs) => {
      const body = encodeEvictions(evictions, { namespace, name, version });
      const options = { fieldManager: COMPONENT_NAMES.webhook, timeoutMs };
      const outcome =
        version === undefined
          ? await createObject(client, address, body, options)
          : await replaceObject(client, address, body, options);
      if (outcome.kind === 'conflict' || outcome.kind === 'alreadyExists') return false;
      if (outcome.kind === 'ok') return true;
      throw new Error(ERRORS.writeEvictions(what, outcome.message));
    },
  };
}

interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly version: string | undefined;
}

function encodeEvictions(evictions: readonly CountedEviction[], { namespace, name, version }: Place): KubeObject {
  const labels = { 'app.kubernetes.io/name': 'plimsoll', 'app.kubernetes.io/component': 'webhook' };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name, labels, ...(version !== undefined && { resourceVersion: version }) },
    data: { [KEY]: JSON.stringify(evictions) },
  };
}

/** Throws for data that we did not write: an unknown count must not allow evictions. */
function decodeEvictions(configMap: KubeObject, what: string): readonly CountedEviction[] {
  const text = fieldOf(fieldOf(configMap, 'data'), KEY);
  if (text === undefined) return [];
  const parsed: unknown = typeof text === 'string' ? parse(text) : undefined;
  if (Array.isArray(parsed) && parsed.every(isCountedEviction)) return parsed;
  throw new Error(ERRORS.evictionsGarbled(what, KEY));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isCountedEviction(value: unknown): value is CountedEviction {
  if (!isRecord(value) || typeof value['at'] !== 'number') return false;
  return ['node', 'namespace', 'pod', 'uid'].every((key) => typeof value[key] === 'string');
}
