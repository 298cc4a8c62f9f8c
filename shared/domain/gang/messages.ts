import { reason } from '#shared/domain/base/because.ts';

/* Every sentence about a gang: what is none or not complete, what finds no nodes together, and what runs in part. */

interface OfGang {
  readonly gang: string;
}

interface InField {
  readonly field: string;
}

export const BAD_NAME = reason<InField>(
  'GangNameInvalid',
  ({ field }) => `${field} must be a name of at most 63 characters: letters, digits, "-", "_" and "."`,
);
export const BAD_NUMBER = reason<InField & { readonly value: string; readonly max: number }>(
  'GangSizeInvalid',
  ({ field, value, max }) => `${field} must be a whole number from 1 to ${max}, not ${JSON.stringify(value)}`,
);
export const NO_SIZE = reason<{ readonly fields: string }>(
  'GangSizeMissing',
  ({ fields }) => `the pod names a gang without its size: set ${fields}`,
);
export const MIN_ABOVE_SIZE = reason<{
  readonly min: number;
  readonly size: number;
  readonly fields: readonly [string, string];
}>(
  'GangMinAboveSize',
  ({ min, size, fields: [ofMin, ofSize] }) => `${ofMin} is ${min}, more than ${ofSize}, which is ${size}`,
);
export const NOT_OF_A_JOB = reason<InField>(
  'GangNotOfAJob',
  ({ field }) => `${field}: auto is for the pods of a Job; give the gang a name and a size`,
);
export const SEVERAL_SIZES = reason<OfGang & { readonly counted: string }>(
  'GangSizesDiffer',
  ({ gang, counted }) => `the pods of gang ${gang} name different sizes: ${counted}`,
);
export const OTHER_SIZE = reason<OfGang & { readonly own: string; readonly others: string }>(
  'GangSizesDiffer',
  ({ gang, own, others }) => `names ${own} as the size of gang ${gang}; its pods that were let in name ${others}`,
);
export const SEVERAL_QUEUES = reason<OfGang & { readonly counted: string }>(
  'GangInSeveralQueues',
  ({ gang, counted }) => `the pods of gang ${gang} are in different queues: ${counted}`,
);
export const OTHER_QUEUE = reason<OfGang & { readonly own: string; readonly others: string }>(
  'GangInSeveralQueues',
  ({ gang, own, others }) => `is in queue ${own}; the pods of gang ${gang} that were let in are in queue ${others}`,
);
export const GANG_FULL = reason<OfGang & { readonly size: number }>(
  'GangFull',
  ({ gang, size }) => `gang ${gang} has all of its ${size} pods: waits until one of them ends`,
);
export const GROUP_NOT_FOUND = reason<OfGang & { readonly api: string }>(
  'PodGroupNotFound',
  ({ gang, api }) =>
    `waits for PodGroup ${gang} of ${api}, which does not exist; after a minute its pods go in one by one`,
);
export const GROUP_NOT_READ = reason<OfGang & { readonly api: string }>(
  'PodGroupNotRead',
  ({ gang, api }) => `waits until PodGroup ${gang} of ${api} is read`,
);
export const TOO_LARGE = reason<
  OfGang & {
    readonly type: string;
    readonly needed: string;
    readonly limit: string;
    readonly queue: string;
    readonly pods: number;
  }
>(
  'GangTooLarge',
  ({ gang, type, needed, limit, queue, pods }) =>
    `gang ${gang} needs ${needed} ${type} for ${pods} pods; queue ${queue} has at most ${limit}`,
);
export const INCOMPLETE = reason<OfGang & { readonly present: number; readonly min: number }>(
  'GangIncomplete',
  ({ gang, present, min }) => `waits for ${min - present} of ${min} pods of gang ${gang}`,
);
export const GATED = reason<OfGang & { readonly gates: string }>(
  'GangGated',
  ({ gang, gates }) => `waits until the other scheduling gates of gang ${gang} are off: ${gates}`,
);
export const NOT_SEEN = reason<{ readonly pod: string; readonly what: string }>(
  'GangNotSeenToFit',
  ({ pod, what }) => `no plan: ${pod} has ${what}, and where such pods fit together is not known`,
);
export const NO_PLAN = reason<{
  readonly placed: number;
  readonly pods: number;
  readonly needed: string;
  readonly hole: string;
}>(
  'GangNoPlan',
  ({ placed, pods, needed, hole }) =>
    `no plan: ${placed} of ${pods} pods fit; the next one needs ${needed}, and the largest hole on a node that it may use is ${hole}`,
);
export const NOT_YET = reason<object>('GangNotPlannedYet', () => 'waits for its turn: other gangs are being planned');
export const TAKEN = reason<object>('GangRoomTaken', () => 'other pods took the room that was planned for the gang');
export const UNWRITTEN = reason<{ readonly message: string }>(
  'GangNotNominated',
  ({ message }) => `cannot set nodes aside for the gang: ${message}`,
);
export const HALF = reason<
  OfGang & { readonly running: number; readonly min: number; readonly seconds: number; readonly others: string }
>(
  'GangIsHalf',
  ({ gang, running, min, seconds, others }) =>
    `${running} of ${min} pods of gang ${gang} have had a node for ${seconds} s: it gives its room back${others}`,
);
export const KEPT = reason<OfGang & { readonly keeper: string }>(
  'GangStaysHalf',
  ({ gang, keeper }) => `gang ${gang} runs in part and cannot give its room back: ${keeper}`,
);
