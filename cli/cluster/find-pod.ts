import { withDefaultRequests } from '#shared/domain/pod/pod-requests.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { resolvePriority } from '#shared/domain/priority/classes-and-policies.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { parseManifests, isPod } from '#cli/manifests/parse-manifests.ts';
import { readFiles } from '#cli/manifests/read-files.ts';
import { decodeManifest, withNamespace, type ClusterModel } from './cluster-model.ts';

/** The pod named `name` or `namespace/name`. Throws an InputError if there is none. */
export function findPod(model: Pick<ClusterModel, 'pods'>, wanted: string, fallback: string): Pod {
  const found = podNamed(model, wanted, fallback);
  if (found !== undefined) return found;
  throw new InputError(podNotFound(model, splitName(wanted, 'pod', fallback)));
}

/** The same; `undefined` if there is none. */
export function podNamed({ pods }: Pick<ClusterModel, 'pods'>, wanted: string, fallback: string): Pod | undefined {
  const { namespace, name } = splitName(wanted, 'pod', fallback);
  return pods.find((pod) => pod.namespace === namespace && pod.name === name);
}

/** States that a pod does not exist, and where a pod of that name does. */
export function podNotFound({ pods }: Pick<ClusterModel, 'pods'>, { namespace, name }: NamespacedName): string {
  return `pod ${namespace}/${name} not found${inOtherNamespaces(pods, name)}`;
}

export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** The name in `namespace/name`, `TYPE/name` or `name`. */
export function splitName(text: string, type: ObjectType, fallback: string): NamespacedName {
  const [first = '', second] = text.split('/', 2);
  if (second === undefined || isType(first, type)) return { namespace: fallback, name: second ?? first };
  return { namespace: first, name: second };
}

function inOtherNamespaces(pods: readonly Pod[], name: string): string {
  const [other] = pods.filter((pod) => pod.name === name);
  return other === undefined ? '' : `; there is ${other.namespace}/${other.name}`;
}

/**
 * The pod of a file as the API server would store it: with default requests, and the priority of its class. Rejects with
 * an InputError if the file holds no pod, or more than one.
 */
export async function readPodFile(
  path: string,
  { classes }: Pick<ClusterModel, 'classes'>,
  { namespace, standardInput }: { readonly namespace: string } & Pick<ProcessIo, 'standardInput'>,
): Promise<Pod> {
  const files = await readFiles([path], standardInput);
  const [manifest, ...others] = files.flatMap(parseManifests).filter(isPod);
  if (manifest === undefined) throw new InputError(`${path}: expected a Pod`);
  if (others.length > 0) throw new InputError(`${path}: expected one Pod, got ${others.length + 1}`);
  const pod = withDefaultRequests(decodeManifest(withNamespace(manifest, namespace), decodePod));
  const resolved = resolvePriority(pod, classes);
  if (resolved.kind !== 'resolved') throw new InputError(`${manifest.where}: ${resolved.message}`);
  const { priorityClassName, priority, preemptionPolicy } = resolved;
  return { ...pod, spec: { ...pod.spec, priorityClassName, priority, preemptionPolicy, nodeName: undefined } };
}

/** What kubectl calls the kinds that commands take by name, with its short forms. */
const TYPES = {
  pod: ['pod', 'pods', 'po'],
  node: ['node', 'nodes', 'no'],
  quota: [
    'quota',
    'priorityquota',
    'priorityquotas',
    'prquota',
    'priorityquota.plimsoll.dev',
    'priorityquotas.plimsoll.dev',
  ],
  disruption: ['disruption', 'disruptions', 'disr', 'disruption.plimsoll.dev', 'disruptions.plimsoll.dev'],
} as const;

export type ObjectType = keyof typeof TYPES;

/** The kind that a word of kubectl means; `undefined` for another word. */
export function objectType(word: string): ObjectType | undefined {
  return (Object.keys(TYPES) as readonly ObjectType[]).find((type) => isType(word, type));
}

/** The name in `NAME` or `TYPE/NAME`. Throws an InputError if the type is another one. */
export function nameOfType(text: string, expected: ObjectType): string {
  const [word = '', name] = text.split('/', 2);
  if (name === undefined) return text;
  if (isType(word, expected) && name !== '') return name;
  throw new InputError(`expected NAME or ${expected}/NAME, got ${text}`);
}

/** Whether a word of kubectl means this kind. */
function isType(word: string, type: ObjectType): boolean {
  const words: readonly string[] = TYPES[type];
  return words.includes(word);
}
