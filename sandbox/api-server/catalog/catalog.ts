import type { ResourceType } from '#sandbox/api-server/resource-type.ts';

/** The kinds the server speaks at the moment: the built-in ones and those of CustomResourceDefinitions. */
export class Catalog {
  readonly #types = new Map<string, ResourceType>();
  readonly #byKind = new Map<string, ResourceType>();
  /** Grows with every change, so that documents made from the catalog know when they are stale. */
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

  /** By what stands in a path: `apps`, `v1`, `deployments`. */
  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#types.get(`${group}/${version}/${plural}`);
  }

  /** By what stands in an object: `apps/v1`, `Deployment`. */
  findKind(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** Whether any kind of this group is there. */
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
