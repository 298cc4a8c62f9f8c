import type { ResourceType } from '#sandbox/api-server/resource-type.ts';

/** The kinds that the server serves now: the built-in ones and those of CustomResourceDefinitions. */
export class Catalog {
  readonly #types = new Map<string, ResourceType>();
  readonly #byKind = new Map<string, ResourceType>();
  /** Increases with every change, so that documents built from the catalog can detect that they are stale. */
  #generation = 0;

  constructor(types: readonly ResourceType[]) {
    for (const type of types) this.add(type);
  }

  get generation(): number {
    return this.#generation;
  }

  all(): readonly ResourceType[] {
    return Array.from(this.#types.values());
  }

  /** By the parts of a path: `apps`, `v1`, `deployments`. */
  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#types.get(`${group}/${version}/${plural}`);
  }

  /** By the fields of an object: `apps/v1`, `Deployment`. */
  findKind(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** Whether the catalog has any kind of this group. */
  hasGroup(group: string): boolean {
    return this.all().some((type) => type.group === group);
  }

  add(type: ResourceType): void {
    this.#types.set(`${type.group}/${type.version}/${type.plural}`, type);
    this.#byKind.set(`${type.apiVersion}/${type.kind}`, type);
    this.#generation += 1;
  }

  remove(type: ResourceType): void {
    this.#types.delete(`${type.group}/${type.version}/${type.plural}`);
    this.#byKind.delete(`${type.apiVersion}/${type.kind}`);
    this.#generation += 1;
  }
}
