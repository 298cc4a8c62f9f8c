import { decodeAdmitted } from '#shared/api/admitted.ts';
import type { PodEntry } from '#shared/api/node-pressure.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Disruption } from '#shared/domain/disruption/disruption.ts';
import { controllerOf, type Pod } from '#shared/domain/pod/pod.ts';
import { podRequests } from '#shared/domain/pod/pod-requests.ts';
import { formatQuantity, readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import { sortedNames } from '#shared/domain/quantity/quantity.ts';
import { type PodEvidence, podSituation, type PodSituation } from '#shared/decide/pods/pod-situation.ts';
import { ANNOTATION_ADMITTED, LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { inOneUnit } from './one-unit.ts';
import { type MaySee, redactText } from './redact.ts';
import { KIND_OF_CAUSE } from './timeline.ts';
import type { NextView, NodeView, TimelineKind } from './view.ts';

/** What is the matter with one pod, and what happened to it. */
export interface PodView extends PodFacts {
  /** `namespace/name`. */
  readonly pod: string;
  readonly state: PodSituation['state'];
  readonly code: string;
  readonly why: string;
  /** Its place among the pods of its node that would be evicted next. */
  readonly place: NextView | undefined;
  /** The pods that would be evicted before it. */
  readonly before: readonly NextView[];
  /** Events about it, newest first. */
  readonly happened: readonly HappenedView[];
  /** Records of removed pods of this name, newest first. */
  readonly removals: readonly RemovalView[];
  /** What could not be read. */
  readonly notes: readonly string[];
}

/** What the pod itself says; empty if there is none. */
interface PodFacts {
  readonly node: string;
  readonly createdAt: number | undefined;
  /** As in `ReplicaSet web-5d`. */
  readonly owner: string;
  readonly priority: number | undefined;
  readonly className: string;
  readonly requests: string;
  /** What it uses, as its agent reported. */
  readonly usage: string;
  /** The queue that let it in, that it names, or that its reason names. */
  readonly queue: string;
}

export interface HappenedView {
  readonly code: string;
  readonly why: string;
}

export interface RemovalView {
  readonly at: number;
  readonly kind: TimelineKind;
  readonly node: string;
  readonly why: string;
  /** `namespace/name` of the pod that room was made for, if it is in the same namespace. */
  readonly madeRoomFor: string;
  readonly placedOn: string;
  /** `namespace/name` of its replacement, and its node. */
  readonly replacement: string;
  readonly replacementNode: string;
}

/** What is known about a pod beside the objects of its namespace. */
export interface PodContext {
  readonly namespace: string;
  readonly evidence: PodEvidence;
  /** Its node, as the viewer may see it. */
  readonly node: NodeView | undefined;
  readonly figuresOf: (node: string, uid: string) => PodEntry | undefined;
  readonly notes: readonly string[];
}

/** One pod for its page, with names of others as far as the viewer may see them. */
export function podView({ namespace, evidence, node, figuresOf, notes }: PodContext, maySee: MaySee): PodView {
  const situation = podSituation(evidence);
  const decoded = evidence.raw === undefined ? undefined : decodePod(evidence.raw);
  const pod = decoded?.ok === true ? decoded.value : undefined;
  const shown = ({ code, text }: Because): HappenedView => ({ code, why: redactText(text, maySee) });
  const facts = pod === undefined ? NO_FACTS : factsOf(pod, figuresOf);
  const { code, why } = shown(situation.because);
  return {
    ...facts,
    pod: `${namespace}/${evidence.name}`,
    state: situation.state,
    code,
    why,
    queue: facts.queue === '' ? queueIn(situation) : facts.queue,
    ...placeOf(`${namespace}/${evidence.name}`, node),
    happened: situation.events.map(shown),
    removals: evidence.removals.map((each) => removalView(each, maySee)),
    notes,
  };
}

/** The node of a pod as the API server holds it; empty without one. */
export function nodeNameIn(raw: unknown): string {
  const name = fieldOf(fieldOf(raw, 'spec'), 'nodeName');
  return typeof name === 'string' ? name : '';
}

const NO_FACTS: PodFacts = {
  node: '',
  createdAt: undefined,
  owner: '',
  priority: undefined,
  className: '',
  requests: '',
  usage: '',
  queue: '',
};

function factsOf(pod: Pod, figuresOf: PodContext['figuresOf']): PodFacts {
  const owner = controllerOf(pod);
  const node = pod.spec.nodeName ?? '';
  return {
    node,
    createdAt: pod.createdAt,
    owner: owner === undefined ? '' : `${owner.kind} ${owner.name}`,
    priority: pod.spec.priority,
    className: pod.spec.priorityClassName ?? '',
    ...amountsOf(pod, figuresOf(node, pod.uid)),
    queue: decodeAdmitted(pod.annotations.get(ANNOTATION_ADMITTED))?.queue ?? pod.labels.get(LABEL_QUEUE) ?? '',
  };
}

/** A reason for waiting names the queue that namespaces choose without a label. */
function queueIn({ state, because }: PodSituation): string {
  return state === 'Waits' ? (/\bqueue ([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)/.exec(because.text)?.[1] ?? '') : '';
}

function placeOf(pod: string, node: NodeView | undefined): Pick<PodView, 'place' | 'before'> {
  const index = node?.candidates.findIndex((each) => each.pod === pod) ?? -1;
  const before = index < 0 ? [] : (node?.candidates.slice(0, index) ?? []);
  return { place: node?.candidates[index], before };
}

/** Requests, and what its agent says that it uses, each type in one unit, as in `0.5 cpu, 1.5Gi memory`. */
function amountsOf(pod: Pod, figures: PodEntry | undefined): Pick<PodView, 'requests' | 'usage'> {
  const requests = podRequests(pod);
  const used = new Map([
    ['cpu', figures?.cpu],
    ['memory', figures?.memory],
  ]);
  const types = sortedNames(requests).map((type) => {
    const asked = requests.get(type);
    const [request, usage] = inOneUnit([asked === undefined ? undefined : formatQuantity(asked), used.get(type)]);
    return { request: amountText(request, type), usage: amountText(usage, type) };
  });
  const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join(', ');
  return { requests: joined(types.map(({ request }) => request)), usage: joined(types.map(({ usage }) => usage)) };
}

function amountText(amount: string | undefined, type: string): string {
  return amount === undefined ? '' : `${readableAmount(amount)} ${type}`;
}

function removalView({ namespace, spec, outcome }: Disruption, maySee: MaySee): RemovalView {
  const named = (pod: string | undefined): string => (pod === undefined ? '' : `${namespace}/${pod}`);
  return {
    at: spec.removedAt,
    kind: KIND_OF_CAUSE[spec.cause],
    node: spec.node,
    why: redactText(spec.because.text, maySee),
    madeRoomFor: named(spec.madeRoomFor?.pod),
    placedOn: outcome.placedOn ?? '',
    replacement: named(outcome.replacement?.pod),
    replacementNode: outcome.replacement?.node ?? '',
  };
}
