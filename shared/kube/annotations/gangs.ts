import type { Because } from '#shared/domain/base/because.ts';
import { type GangWish, MAX_GANG_SIZE } from '#shared/domain/gang/gang.ts';
import { BAD_NAME, BAD_NUMBER, MIN_ABOVE_SIZE, NO_SIZE, NOT_OF_A_JOB } from '#shared/domain/gang/messages.ts';
import { controllerOf, type Pod } from '#shared/domain/pod/pod.ts';
import { FOREIGN_GANGS, GANG_AUTO, LABEL_GANG, LABEL_GANG_MIN, LABEL_GANG_SIZE } from '#shared/kube/api-names.ts';

type Named = Pick<Pod, 'labels' | 'annotations' | 'owners'> & { readonly spec: Pick<Pod['spec'], 'podGroup'> };

/** The labels, or annotations, that may say so. */
interface GangFields {
  readonly name: string;
  readonly size?: string;
  readonly min?: string;
}

const OWN: GangFields = { name: LABEL_GANG, size: LABEL_GANG_SIZE, min: LABEL_GANG_MIN };
const { kueue, coscheduling, lightweight } = FOREIGN_GANGS;
/** Our own first, then the others; a group of coscheduling has its minimum in an object. */
const FIELDS: readonly GangFields[] = [OWN, kueue, lightweight];

/** On the pods of several controllers, the object for which they are: its UID, or its name where that is all. */
const RUN_LABELS = [
  'jobset.sigs.k8s.io/jobset-uid',
  'jobset.sigs.k8s.io/jobset-name',
  'training.kubeflow.org/job-name',
] as const;

/** The name of a gang. */
export const GANG_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** The size of a gang or its minimum, not yet bounded. */
export const GANG_NUMBER = /^[1-9][0-9]{0,3}$/;

/** Everything on a pod that may say that it belongs to a gang. */
export const GANG_KEYS: readonly string[] = [...FIELDS, coscheduling].flatMap((fields: GangFields) =>
  Object.values(fields).map(String),
);

/**
 * The gang that a pod names; `undefined` for most pods. A label counts before an annotation of the same name. The wishes
 * of other projects mean the same as ours.
 */
export function gangWishOf(pod: Named): GangWish | undefined {
  const fields = FIELDS.find(({ name }) => valueOf(pod, name) !== undefined);
  if (fields !== undefined) return wishIn(pod, fields);
  const group = valueOf(pod, coscheduling.name);
  if (group !== undefined) return checked(coscheduling.name, ofGroup(group, 'scheduling.x-k8s.io'));
  const { podGroup } = pod.spec;
  return podGroup === undefined ? undefined : ofGroup(podGroup, 'scheduling.k8s.io');
}

/** Whether a pod names a gang without a mistake; the pod of a PodGroup too, whatever the group says. */
export function isOfGang(pod: Named): boolean {
  const wish = gangWishOf(pod);
  return wish !== undefined && wish.problem === undefined;
}

/**
 * What tells the pods of one run from those of an earlier one with the same gang: what makes several controllers,
 * as a JobSet its Jobs and an MPIJob a Job beside its pods, else the controller. Who deletes such an object deletes the
 * pods of its run.
 */
export function gangRunOf(pod: Pick<Pod, 'labels' | 'owners'>): string | undefined {
  const made = RUN_LABELS.find((label) => pod.labels.has(label));
  return made === undefined ? controllerOf(pod)?.uid : `${made}=${pod.labels.get(made)}`;
}

function ofGroup(name: string, groupOf: NonNullable<GangWish['groupOf']>): GangWish {
  return { name, size: undefined, min: undefined, groupOf };
}

function valueOf({ labels, annotations }: Named, key: string): string | undefined {
  return labels.get(key) ?? annotations.get(key);
}

function wishIn(pod: Named, fields: GangFields): GangWish {
  const written = valueOf(pod, fields.name) ?? '';
  const numbers = [numberIn(pod, fields.size), numberIn(pod, fields.min)] as const;
  const [size, min] = numbers.map((each) => (typeof each === 'number' ? each : undefined));
  const isAuto = fields === OWN && written === GANG_AUTO;
  const job = isAuto ? jobOf(pod) : undefined;
  const wish = { name: job ?? written, size, min };
  if (isAuto && job === undefined) return { ...wish, problem: NOT_OF_A_JOB({ field: LABEL_GANG }) };
  const problem = numbers.find((each) => typeof each === 'object') ?? problemOf(wish, fields);
  return problem === undefined ? checked(fields.name, wish) : { ...wish, problem };
}

/** A user that may create pods can write the reference; it names an object of its own namespace. */
function jobOf({ owners }: Named): string | undefined {
  const owner = controllerOf({ owners });
  return owner?.kind === 'Job' ? owner.name : undefined;
}

function checked(field: string, wish: GangWish): GangWish {
  const isName = GANG_NAME.test(wish.name);
  return isName ? wish : { ...wish, problem: BAD_NAME({ field }) };
}

function numberIn(pod: Named, field: string | undefined): number | undefined | Because {
  const value = field === undefined ? undefined : valueOf(pod, field);
  if (field === undefined || value === undefined) return undefined;
  const isWhole = GANG_NUMBER.test(value) && Number(value) <= MAX_GANG_SIZE;
  return isWhole ? Number(value) : BAD_NUMBER({ field, value: value.slice(0, 64), max: MAX_GANG_SIZE }, { field });
}

function problemOf({ size, min }: GangWish, fields: GangFields): Because | undefined {
  if (size === undefined && min === undefined) {
    return NO_SIZE({ fields: [fields.size, fields.min].filter((field) => field !== undefined).join(' or ') });
  }
  if (size === undefined || min === undefined || min <= size) return undefined;
  return MIN_ABOVE_SIZE({ min, size, fields: [fields.min ?? '', fields.size ?? ''] }, { min, size });
}
