/**
 * Judges answers to queue-preemption cases by the laws of `README-queue.md`, written down once more and by trial: every
 * set of victims on a node is tried in order of size. It shares no code with what it judges.
 */
export interface JudgedCase {
  readonly queues: readonly JudgedQueue[];
  readonly nodes: readonly { readonly name: string; readonly capacity: Amounts }[];
  readonly running: readonly JudgedPod[];
  /** With a node only where a DaemonSet binds it there. */
  readonly pending: Omit<JudgedPod, 'node'> & { readonly node?: string };
}

interface JudgedQueue {
  readonly name: string;
  readonly parent?: string;
  readonly guaranteed?: Amounts;
  readonly max?: Amounts;
  readonly policy?: string;
}

export interface JudgedPod {
  readonly name: string;
  readonly queue: string;
  readonly app: string;
  readonly priority?: number;
  readonly request: Amounts;
  readonly allowPreemption?: boolean;
  readonly originator?: boolean;
  readonly daemonSet?: boolean;
  readonly node: string;
}

export interface JudgedAnswer {
  readonly outcome?: string;
  readonly node?: string;
  readonly victims?: readonly string[];
}

/** Resource type to amount: a number, or a quantity in m, Ki, Mi or Gi. */
type Amounts = Readonly<Record<string, string | number>>;

const UNITS: Readonly<Record<string, number>> = {
  m: 0.001,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  k: 1e3,
  M: 1e6,
  G: 1e9,
};

function read(amount: string | number = 0): number {
  const [, digits = '0', unit = ''] = /^([\d.]+)(\w*)$/.exec(String(amount)) ?? [];
  return Math.round(Number(digits) * (UNITS[unit] ?? 1) * 1_000);
}

/** What is wrong with an answer; nothing if it is sound. */
export function findings(scenario: JudgedCase, { outcome, node = '', victims = [] }: JudgedAnswer): readonly string[] {
  const judge = new Judge(scenario);
  switch (outcome) {
    case 'none':
      return judge.fitsUntouched() || judge.smallest(true) !== undefined ? ['missed'] : [];
    case 'fits':
      return judge.isEnough(node, []) ? [] : ['does-not-fit'];
    case 'preempt':
      return preemptFindings(judge, node, victims);
    default:
      return ['unknown-name'];
  }
}

function preemptFindings(judge: Judge, node: string, names: readonly string[]): readonly string[] {
  const victims = judge.named(names);
  if (victims.length === 0 || new Set(victims).size !== names.length) return ['unknown-name'];
  return judge.judgeVictims(node, victims);
}

/** How many victims a smallest lawful set has. */
export function fewestVictims(scenario: JudgedCase): number | undefined {
  return smallestSets(scenario)[0]?.length;
}

/** Every lawful set of the fewest victims; of pods that ask to be spared only where there is no other. */
export function smallestSets(scenario: JudgedCase): readonly (readonly JudgedPod[])[] {
  return new Judge(scenario).allSmallest();
}

class Judge {
  readonly #case: JudgedCase;
  readonly #sums = new Map<string, number>();

  constructor(scenario: JudgedCase) {
    this.#case = scenario;
  }

  named(names: readonly string[]): readonly JudgedPod[] {
    return names.flatMap((name) => this.#case.running.filter((pod) => pod.name === name));
  }

  judgeVictims(node: string, victims: readonly JudgedPod[]): readonly string[] {
    const found: (string | false)[] = victims.flatMap((pod) => this.#objections(pod));
    found.push(!this.#mayTake() && 'taker');
    found.push(this.fitsUntouched() && 'fits-anyway');
    found.push(victims.some((pod) => pod.node !== node) && 'one-node');
    found.push(!this.isEnough(node, victims) && 'does-not-fit');
    found.push(this.#leavesBelow(victims) && 'law2-below-guarantee');
    found.push(victims.some((pod) => this.isEnough(node, without(victims, pod))) && 'not-needed');
    found.push(victims.some(isSpared) && this.smallest(false) !== undefined && 'law1-opt-out');
    found.push(victims.some((pod) => this.#isSwappedOriginator(node, victims, pod)) && 'originator');
    return found.filter((code) => code !== false);
  }

  isEnough(node: string, victims: readonly JudgedPod[]): boolean {
    return this.#fits(node, victims) && this.#withinMax(victims);
  }

  fitsUntouched(): boolean {
    return this.#nodes().some(({ name }) => this.isEnough(name, []));
  }

  smallest(withSpared: boolean): readonly JudgedPod[] | undefined {
    for (const set of this.#smallestSets(withSpared)) return set;
    return undefined;
  }

  /** Every smallest set; of pods that ask to be spared only where there is no other. */
  allSmallest(): readonly (readonly JudgedPod[])[] {
    const willing = [...this.#smallestSets(false)];
    return willing.length > 0 ? willing : [...this.#smallestSets(true)];
  }

  *#smallestSets(withSpared: boolean): Generator<readonly JudgedPod[]> {
    if (!this.#mayTake() || this.fitsUntouched()) return;
    const lawful = this.#case.running.filter(
      (pod) => this.#objections(pod).length === 0 && (withSpared || !isSpared(pod)),
    );
    let isFound = false;
    for (let size = 1; size <= 10 && !isFound; size += 1) {
      for (const { name } of this.#nodes()) {
        const here = lawful.filter(({ node }) => node === name);
        for (const set of this.#grow(name, here, [], size)) {
          isFound = true;
          yield set;
        }
      }
    }
  }

  *#grow(
    node: string,
    rest: readonly JudgedPod[],
    taken: readonly JudgedPod[],
    size: number,
  ): Generator<readonly JudgedPod[]> {
    if (size === 0) {
      if (this.isEnough(node, taken) && !this.#leavesBelow(taken)) yield taken;
      return;
    }
    if (rest.length < size || !this.#fits(node, [...taken, ...rest])) return;
    for (const [index, pod] of rest.entries())
      yield* this.#grow(node, rest.slice(index + 1), [...taken, pod], size - 1);
  }

  #nodes(): JudgedCase['nodes'] {
    const { nodes, pending } = this.#case;
    return nodes.filter(({ name }) => pending.node === undefined || pending.node === name);
  }

  #isSwappedOriginator(node: string, victims: readonly JudgedPod[], pod: JudgedPod): boolean {
    if (pod.originator !== true) return false;
    return this.#case.running.some((other) => {
      const isOther = other.originator !== true && other.app === pod.app && other.queue === pod.queue;
      if (!isOther || other.node !== node || victims.includes(other) || this.#objections(other).length > 0)
        return false;
      if (isSpared(other) && !isSpared(pod)) return false;
      const swapped = [...without(victims, pod), other];
      return this.isEnough(node, swapped) && !this.#leavesBelow(swapped);
    });
  }

  #objections(pod: JudgedPod): readonly string[] {
    const { pending } = this.#case;
    const found: (string | false)[] = [
      pod.queue === pending.queue && 'own-queue',
      pod.app === pending.app && 'law3-own-app',
      !this.#isOver(pod.queue) && 'law5-giver',
      priorityOf(pod) > priorityOf(pending) && 'law6-priority',
      !this.#path(pod.queue).includes(this.#fence()) && 'law7-fence',
      this.#isDisabled(pod.queue) && 'disabled',
      pod.daemonSet === true && 'daemon-set',
    ];
    return found.filter((code) => code !== false);
  }

  #isOver(queue: string): boolean {
    return this.#asked().some((type) => this.#used(queue, type) > this.#guarantee(queue, type));
  }

  #mayTake(): boolean {
    const { queue } = this.#case.pending;
    const isUnder = this.#asked().some((type) => this.#used(queue, type) < this.#guarantee(queue, type));
    return isUnder && !this.#isDisabled(queue);
  }

  #asked(): readonly string[] {
    const { request } = this.#case.pending;
    return Object.keys(request).filter((type) => read(request[type]) > 0);
  }

  #fits(node: string, victims: readonly JudgedPod[]): boolean {
    const found = this.#case.nodes.find(({ name }) => name === node);
    const rest = this.#case.running.filter((pod) => pod.node === node && !victims.includes(pod));
    return (
      found !== undefined &&
      this.#asked().every((type) => {
        return sum(rest, type) + read(this.#case.pending.request[type]) <= read(found.capacity[type]);
      })
    );
  }

  #withinMax(victims: readonly JudgedPod[]): boolean {
    return this.#path(this.#case.pending.queue).every((queue) => {
      const gone = victims.filter((pod) => this.#path(pod.queue).includes(queue));
      return this.#asked().every((type) => {
        const most = this.#queue(queue)?.max?.[type];
        const after = this.#used(queue, type) + read(this.#case.pending.request[type]) - sum(gone, type);
        return most === undefined || after <= read(most);
      });
    });
  }

  #leavesBelow(victims: readonly JudgedPod[]): boolean {
    const above = this.#path(this.#case.pending.queue);
    return this.#case.queues
      .filter(({ name }) => !above.includes(name))
      .some(({ name, guaranteed = {} }) => {
        const gone = victims.filter((pod) => this.#path(pod.queue).includes(name));
        return Object.keys(guaranteed).some((type) => {
          const lost = sum(gone, type);
          return lost > 0 && this.#used(name, type) - lost < read(guaranteed[type]);
        });
      });
  }

  #used(queue: string, type: string): number {
    const key = `${queue} ${type}`;
    const known = this.#sums.get(key);
    if (known !== undefined) return known;
    const pods = this.#case.running.filter((pod) => this.#path(pod.queue).includes(queue));
    this.#sums.set(key, sum(pods, type));
    return sum(pods, type);
  }

  #guarantee(queue: string, type: string): number {
    return read(this.#queue(queue)?.guaranteed?.[type]);
  }

  #queue(name: string): JudgedQueue | undefined {
    return this.#case.queues.find((queue) => queue.name === name);
  }

  #path(name: string): readonly string[] {
    const parent = this.#queue(name)?.parent;
    return parent === undefined ? [name] : [name, ...this.#path(parent)];
  }

  #fence(): string {
    const path = this.#path(this.#case.pending.queue);
    return path.find((name) => this.#queue(name)?.policy === 'fence') ?? path.at(-1) ?? '';
  }

  #isDisabled(name: string): boolean {
    return this.#path(name).some((each) => {
      const queue = this.#queue(each);
      return queue?.parent !== undefined && queue.policy === 'disabled';
    });
  }
}

function isSpared({ allowPreemption }: JudgedPod): boolean {
  return allowPreemption === false;
}

function priorityOf({ priority = 0 }: { readonly priority?: number }): number {
  return priority;
}

function without(victims: readonly JudgedPod[], pod: JudgedPod): readonly JudgedPod[] {
  return victims.filter((each) => each !== pod);
}

function sum(pods: readonly JudgedPod[], type: string): number {
  return pods.reduce((all, { request }) => all + read(request[type]), 0);
}
