import { describe, expect, test } from 'vitest';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { printNamed, printTexts, sections, type Samples } from '#test/build/print-messages.ts';
import { CONDITIONS, ERRORS, EVENTS, FAILURES, LOG, RULE_LIMITS } from '#webhook/messages.ts';

const CLASS = { priorityClassName: 'high', priority: 1000 } as const;
const POLICY = { policy: 'team-a' } as const;
const CAUSE = { cause: 'connection refused' } as const;
const API_SERVER = { apiServer: 'pods "web" is forbidden: no PriorityClass with name high was found' } as const;

type Decisions = { readonly [Name in keyof typeof MESSAGES]: Parameters<(typeof MESSAGES)[Name]['text']> };

const DECISIONS: Decisions = {
  podUsesClass: [CLASS],
  classOfRule: [{ ...CLASS, rule: 'team-a/daemons' }],
  classOfPolicy: [{ ...CLASS, ...POLICY }],
  classIsGlobalDefault: [CLASS],
  classReplaced: [{ ...CLASS, ...POLICY }],
  noClass: [],
  classMayBeUsed: [CLASS],
  unknownClass: [API_SERVER],
  fieldsDifferFromClass: [{ apiServer: 'the integer value of priority (5) must not be provided in pod spec' }],
  classlessWithPriority: [{ priority: 4242, preemptionPolicy: 'Never' }],
  forgedQosClass: [{ computed: 'Burstable', shown: '`BestEffort`' }],
  defaultNotGiven: [{ ...CLASS, ...POLICY }],
  classNotAllowed: [{ ...CLASS, ...POLICY, allowed: ['low', 'normal'] }],
  priorityAboveCeiling: [{ ...CLASS, ...POLICY, maxPriority: 500 }],
  missingClassUnderCeiling: [{ ...CLASS, ...POLICY, maxPriority: 500 }],
  preemptionNotAllowed: [{ ...CLASS, ...POLICY, substitute: 'high-never' }],
  missingClassMayPreempt: [{ ...CLASS, ...POLICY }],
  quotaRequired: [{ ...CLASS, ...POLICY, namespace: 'shop' }],
  quotaLabelRequired: [{ ...CLASS, ...POLICY, label: 'plimsoll.dev/priority-quota=enforced' }],
  countedWithoutLabel: [{ ...CLASS, quota: 'high-tier', label: 'plimsoll.dev/priority-quota=enforced' }],
  spareRoomNotGranted: [CLASS],
  spareRoomWithRequests: [],
  spareRoomNotGiven: [{ ...CLASS, ...POLICY }],
  quotaExceeded: [
    {
      ...CLASS,
      quota: 'high-tier',
      where: 'over all its namespaces',
      resource: 'requests.memory',
      hard: '2Ti',
      used: '2Ti',
      asked: '1Gi',
      free: undefined,
      others: ['pods'],
      holders: ['largest holders: `team-b`, `team-a`'],
    },
  ],
  quotaUnusable: [{ apiServer: 'must specify memory for: app' }],
  quotaValuesMissing: [{ quota: 'high-tier', missing: 'requests.memory for: app,init' }],
  groupCounted: [{ ...CLASS, quota: 'high-tier' }],
  notCounted: [],
  quotaReserved: [{ quotas: 'high-tier' }],
  quotaBusy: [{ quota: 'high-tier', ...CAUSE }],
  quotaLabelsUnreadable: [CAUSE],
  quotaWasted: [{ quota: 'high-tier', namespace: 'shop' }],
  templateAccepted: [],
  templateClassUnknown: [CLASS],
  classChangeAccepted: [],
  classInUse: [{ ...CLASS, mentions: ['PriorityPolicy `team-a`'] }],
  secondGlobalDefault: [{ ...CLASS, globalDefault: 'normal' }],
  disruptionLimitReached: [{ limit: 'limit/web', what: 'window', most: 2, rate: 2, window: '1h', retryAfter: 1200 }],
  disruptionAccepted: [{ kind: 'eviction' }],
  neverDeletes: [],
  unboundToken: [],
  otherNode: [{ callerNode: 'node-1', node: 'node-2' }],
  policyInDryRun: [{ policy: 'batch-nodes' }],
  otherUid: [{ expected: 'b2c', uid: 'a1b' }],
  noGracePeriod: [{ seconds: 0 }],
  podIsProtected: [{ protection: 'the pod is the mirror of a static pod' }],
  ownerForbidsPreemption: [],
  podUnreadableToUs: [{ field: 'spec.containers', ...CAUSE }],
  podUnreadable: [{ field: 'spec.containers', ...CAUSE }],
  noSuchPod: [],
  noSuchPodNoUid: [],
  budgetSpent: [],
  limitReached: [{ limit: 'the limit of 2 evictions a minute on node `node-1` is reached' }],
  budgetAccepted: [],
  budgetForbids: [{ field: 'minAvailable', value: '99%', pods: 3 }],
  budgetOverlaps: [{ other: 'web', pods: 3 }],
  evictionUnclear: [CAUSE],
  unreadableReview: [{ cause: FAILURES.notJson().message }],
  reviewTooLarge: [{ cause: FAILURES.tooLarge(3_145_728).message }],
  malformed: [{ field: 'object.spec.containers', cause: 'expected a list' }],
  unexpectedResource: [{ expected: 'pods', given: 'nodes' }],
  overloaded: [{ cause: FAILURES.tooManyAtOnce().message }],
  namespaceUnknown: [{ namespace: 'shop', ...CAUSE }],
  changesNoPriority: [{ operation: 'DELETE' }],
  changesNoClass: [],
  removesNoPod: [{ operation: 'CREATE' }],
  templateUnchanged: [],
  noTemplate: [],
};

const TEXTS: Samples<typeof PHRASES> = {
  dryRun: ['policy `team-a` forbids preemption here'],
  schedulerOfPolicy: ['team-a', 'batch-scheduler'],
  keptAwayFrom: [['node-1', 'node-2', 'node-3', 'node-4'], 'shop/ReplicaSet/web'],
  movedToSpareRoom: ['{"main":{"cpu":"500m","memory":"1Gi"}}'],
  podsWouldMove: ['{"main":{"cpu":"500m","memory":"1Gi"}}'],
  spareNotGranted: [],
  classJustChanged: ['the priority differs from its class'],
  withoutQuotaLabel: ['plimsoll.dev/priority-quota=enforced'],
  defaultNotGiven: [],
  podsWouldBeRefused: ['policy `team-a` forbids preemption here'],
  unconfirmed: [12, 'connection refused'],
  budgetAllowsNone: ['web'],
  largestNamespaces: ['`team-b`, `team-a`'],
  largestPods: ['`web` (2Gi)'],
  largestPodsIn: ['shop', '`web` (2Gi)'],
  noGlobalDefault: [],
  podsKeepPriority: ['high', '`shop/web`'],
  quotasNameClass: ['high', '`shop/high`'],
  longGracePeriod: [0, 'high', 900],
  neverPreemptsInQuota: ['high', 'high-tier'],
  affinityToLowerPriority: ['spec.affinity.podAffinity.x[0]', 1000, '`cache` (0)'],
};

const CONDITION_TEXTS: Samples<typeof CONDITIONS> = {
  everySettingWorks: [],
  noConflict: [],
  noNamespaceSelected: [],
  enforcedEverywhere: [],
  notEnforced: [['in namespaces that are always exempt: kube-system', 'where label a=b is missing: shop']],
  gapExempt: [],
  gapIgnored: ['plimsoll.dev/ignore=true'],
  gapUnlabelled: ['plimsoll.dev/priority-quota=enforced'],
  notCounted: [],
  allPodsRead: [],
  unstatedValues: [new Map([['requests.memory', 3]])],
  unreadablePods: [['shop/web']],
  nothingToEnforce: [],
  onlyByWebhook: ['team-a'],
  earlierRules: ['connection refused'],
  notInstalled: [['ValidatingAdmissionPolicy plimsoll-pods']],
  enforced: ['refuses'],
  thresholdsConfirmed: [],
  thresholdHeld: [
    { rule: 'memory.available < 900Mi for 0 s reclaim nothing', nodes: ['n7', 'n8'], generation: 4, seconds: 300 },
  ],
  compiled: [3],
};

const EVENT_TEXTS: Samples<typeof EVENTS> = {
  namespaceLeftQuota: ['shop', 'plimsoll.dev/priority-quota=enforced'],
  refusedInNamespace: ['shop', 'policy `team-a` forbids preemption here'],
  refusedByQuota: [{ priorityClassName: 'high', namespace: 'shop', resource: 'requests.memory', hard: '2Ti' }],
  keptPod: ['preemption', 'scheduler', "the pod's owner asked that it never be preempted"],
};

const FAILURE_TEXTS: Samples<typeof FAILURES> = {
  pathNotFound: [],
  wrongMethod: [],
  wrongContentType: [],
  encoded: [],
  notJson: [],
  notObject: [],
  otherKind: ['admission.k8s.io/v1'],
  noUid: [256],
  tooLarge: [3_145_728],
  tooManyValues: [100_000],
  tooDeep: [100],
  tooManyAtOnce: [],
  tooSlow: [],
  late: [],
};

const ERROR_TEXTS: Samples<typeof ERRORS> = {
  notRegistered: [{ kind: 'MutatingWebhookConfiguration' }],
  noHandshake: [10_000],
  sharedAuthority: [],
  notYetValid: ['2026-01-01T00:00:00.000Z'],
  expired: ['2026-01-01T00:00:00.000Z', 'connection refused'],
  untrusted: ['plimsoll-webhook.plimsoll-system.svc', 'self-signed certificate'],
  uncountedQuotas: [],
  list: ['pods', 'connection refused'],
  readFields: ['node "node-1"', 'metadata.labels', 'expected an object'],
  missing: ['namespace "shop"'],
  writeConditions: ['PriorityQuota', 'high-tier', 'forbidden'],
  followPods: ['abc'],
  cachesNotSynced: [['namespaces']],
  tooManyReads: [16],
  tooLate: [5_000],
  tooManyWaiting: [],
  ledPerhapsByAnother: [],
};

const [QUOTA_EXCEEDED] = DECISIONS.quotaExceeded;
const [PREEMPTION_NOT_ALLOWED] = DECISIONS.preemptionNotAllowed;
const CLASSLESS = { ...CLASS, priorityClassName: '' };

/** Texts that depend on more than the values in them. */
const VARIANTS: Readonly<Record<string, string>> = {
  'a pod without a class may be used': MESSAGES.classMayBeUsed.text(CLASSLESS),
  'preemption forbidden, without class and substitute': MESSAGES.preemptionNotAllowed.text({
    ...PREEMPTION_NOT_ALLOWED,
    ...CLASSLESS,
    substitute: undefined,
  }),
  'no class is allowed': MESSAGES.classNotAllowed.text({ ...CLASSLESS, ...POLICY, allowed: [] }),
  'a quota with room left': MESSAGES.quotaExceeded.text({ ...QUOTA_EXCEEDED, free: '512Mi', others: [], holders: [] }),
  'the pod is on no node': MESSAGES.otherNode.text({ callerNode: 'node-1', node: '' }),
  'kept away from three nodes': PHRASES.keptAwayFrom(['node-1', 'node-2', 'node-3'], 'shop/ReplicaSet/web'),
  'unconfirmed since a time unknown': PHRASES.unconfirmed(undefined, 'connection refused'),
  'switched off by the ignore label alone': CONDITIONS.notEnforced([
    `${CONDITIONS.gapIgnored('plimsoll.dev/ignore=true')}: c`,
  ]),
  'rules that only warn': CONDITIONS.enforced('warns about'),
  'expired without a cause': ERRORS.expired('2026-01-01T00:00:00.000Z', undefined),
};

function decisionLines(): readonly string[] {
  return Object.entries(MESSAGES).map(([name, message]) => {
    const [sample] = DECISIONS[name as keyof Decisions] as readonly unknown[];
    const { code, status, text } = message as { code: string; status: number; text: (sample: unknown) => string };
    return `${code} ${status}: ${text(sample)}`;
  });
}

describe('the sentences of the webhook', () => {
  test('are those of messages.golden, each with its code and status', async () => {
    const texts = sections({
      'Decisions: code, HTTP status, text': decisionLines(),
      'Warnings and parts of sentences': printTexts(PHRASES, TEXTS),
      Conditions: printTexts(CONDITIONS, CONDITION_TEXTS),
      'Policies that only the webhook enforces': Object.values(RULE_LIMITS).map((each) => each.join(': ')),
      Events: printTexts(EVENTS, EVENT_TEXTS),
      'Requests that are no AdmissionReview': printTexts(FAILURES, FAILURE_TEXTS),
      Errors: printTexts(ERRORS, ERROR_TEXTS),
      Log: printNamed(LOG),
      'In other cases': printNamed(VARIANTS),
    });
    await expect(texts).toMatchFileSnapshot('messages.golden');
  });
});
