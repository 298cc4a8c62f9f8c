const MIB = 1024 * 1024;
const MOST_OF_NAMESPACE = 2 * MIB;
const MOST = 16 * MIB;

/** What a part is kept under, for whom, and how long it was as text, which takes about seven times as much memory. */
export interface PartKey {
  readonly key: string;
  readonly namespace: string;
  readonly length: number;
}

interface Part<T> extends PartKey {
  readonly value: T;
  users: number;
}

/**
 * Parts of objects that are unusually large, each kept once for all its users and forgotten with the last of them.
 * Together they are bounded, and those of one namespace more narrowly, so that a tenant can fill only its own share.
 */
export class LargeParts<T> {
  readonly #parts = new Map<string, Part<T>>();
  readonly #keysByUser = new Map<string, string>();
  readonly #lengths = new Map<string, number>();
  #length = 0;

  /** The part for a user in place of what it had, made where no other user has it; `undefined` where no room is left. */
  take(user: string, partKey: PartKey, make: () => T): T | undefined {
    this.release(user);
    const part = this.#parts.get(partKey.key) ?? this.#add(partKey, make);
    if (part === undefined) return undefined;
    part.users += 1;
    this.#keysByUser.set(user, partKey.key);
    return part.value;
  }

  /** The user is gone, or has become small. */
  release(user: string): void {
    const part = this.#parts.get(this.#keysByUser.get(user) ?? '');
    if (part === undefined) return;
    this.#keysByUser.delete(user);
    part.users -= 1;
    if (part.users > 0) return;
    this.#parts.delete(part.key);
    this.#count(part.namespace, -part.length);
  }

  #add(partKey: PartKey, make: () => T): Part<T> | undefined {
    const { namespace, length } = partKey;
    const ofNamespace = this.#lengths.get(namespace) ?? 0;
    if (ofNamespace + length > MOST_OF_NAMESPACE || this.#length + length > MOST) return undefined;
    const part = { ...partKey, value: make(), users: 0 };
    this.#parts.set(partKey.key, part);
    this.#count(namespace, length);
    return part;
  }

  #count(namespace: string, length: number): void {
    const left = (this.#lengths.get(namespace) ?? 0) + length;
    if (left === 0) this.#lengths.delete(namespace);
    else this.#lengths.set(namespace, left);
    this.#length += length;
  }
}
