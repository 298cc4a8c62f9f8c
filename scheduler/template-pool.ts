import type { PodTemplate } from './compact-pod.ts';

const MIB = 1024 * 1024;
const MOST_OF_NAMESPACE = 2 * MIB;
const MOST = 16 * MIB;
/** The text of what is read of a pod is seldom longer. */
const ORDINARY_LENGTH = 4_096;

/** What a template is kept under, for whom, and how long it was as text, which takes about seven times as much memory. */
export interface TemplateKey {
  readonly key: string;
  readonly namespace: string;
  readonly length: number;
}

/** Makes a template that says under which key it is kept. */
type Make = (key: string) => PodTemplate;

interface Kept extends TemplateKey {
  readonly template: PodTemplate;
  users: number;
}

/**
 * Templates of pods, each kept once for all its pods and forgotten with the last of them. Unusually large ones are
 * bounded together, and those of one namespace more narrowly, so that a tenant can fill only its own share.
 */
export class TemplatePool {
  readonly #kept = new Map<string, Kept>();
  readonly #largeLengths = new Map<string, number>();
  #largeLength = 0;

  /** The template for one more pod, made where no other pod has it: a bare one where there is no room for a large one. */
  take(key: TemplateKey, make: Make, makeBare: Make): PodTemplate {
    const hasWhole = this.#kept.has(key.key) || this.#hasRoomFor(key);
    const kept = hasWhole ? this.#keep(key, make) : this.#keep(bareKeyOf(key), makeBare);
    kept.users += 1;
    return kept.template;
  }

  /** A pod that had taken the template is gone. */
  release({ key }: PodTemplate): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    kept.users -= 1;
    if (kept.users > 0) return;
    this.#kept.delete(key);
    this.#count(kept, -kept.length);
  }

  #keep(key: TemplateKey, make: Make): Kept {
    return this.#kept.get(key.key) ?? this.#add(key, make);
  }

  #add(key: TemplateKey, make: Make): Kept {
    const kept = { ...key, template: make(key.key), users: 0 };
    this.#kept.set(key.key, kept);
    this.#count(key, key.length);
    return kept;
  }

  #hasRoomFor({ namespace, length }: TemplateKey): boolean {
    if (length <= ORDINARY_LENGTH) return true;
    const ofNamespace = this.#largeLengths.get(namespace) ?? 0;
    return ofNamespace + length <= MOST_OF_NAMESPACE && this.#largeLength + length <= MOST;
  }

  #count({ namespace, length }: TemplateKey, change: number): void {
    if (length <= ORDINARY_LENGTH) return;
    const left = (this.#largeLengths.get(namespace) ?? 0) + change;
    if (left === 0) this.#largeLengths.delete(namespace);
    else this.#largeLengths.set(namespace, left);
    this.#largeLength += change;
  }
}

function bareKeyOf(key: TemplateKey): TemplateKey {
  return { ...key, key: `${key.key} bare`, length: 0 };
}
