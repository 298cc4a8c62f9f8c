import {
  PDB_COLUMNS,
  PRIORITY_CLASS_COLUMNS,
  ADMISSION_POLICY_COLUMNS,
  LEASE_COLUMNS,
  POLICY_BINDING_COLUMNS,
  WEBHOOK_COLUMNS,
} from '#sandbox/api-server/table/object-columns.ts';
import {
  setAdmissionPolicyDefaults,
  setPolicyBindingDefaults,
  setPriorityClassDefaults,
  setWebhookDefaults,
} from './cluster-defaults.ts';
import { status, type KindSpec } from './kind-spec.ts';
import type { Behaviour } from '#sandbox/api-server/resource-type.ts';
import { validateAdmissionPolicy, validatePolicyBinding } from './validation/validate-admission-policy.ts';
import { validateWebhookConfiguration } from './validation/validate-webhook-configuration.ts';
import { validateBudget } from './validation/validate-workload.ts';

const WEBHOOKS: Partial<Behaviour> = {
  hasGeneration: true,
  setDefaults: setWebhookDefaults,
  validate: validateWebhookConfiguration,
  validateUpdate: validateWebhookConfiguration,
};
const admission = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  namespaced: false,
  categories: ['api-extensions'],
};

/** Disruption budgets, webhooks and admission policies. */
export const POLICIES: readonly KindSpec[] = [
  {
    group: 'policy',
    version: 'v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    namespaced: true,
    shortNames: ['pdb'],
    subresources: [status('PodDisruptionBudget', 'policy')],
    behaviour: { hasGeneration: true, hasStatus: true, validate: validateBudget, validateUpdate: validateBudget },
    columns: PDB_COLUMNS,
  },
  {
    group: 'scheduling.k8s.io',
    version: 'v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    namespaced: false,
    shortNames: ['pc'],
    behaviour: { hasGeneration: true, setDefaults: setPriorityClassDefaults },
    columns: PRIORITY_CLASS_COLUMNS,
  },
  {
    ...admission,
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    behaviour: WEBHOOKS,
    columns: WEBHOOK_COLUMNS,
  },
  {
    ...admission,
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    behaviour: WEBHOOKS,
    columns: WEBHOOK_COLUMNS,
  },
  {
    ...admission,
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    subresources: [status('ValidatingAdmissionPolicy', 'admissionregistration.k8s.io')],
    behaviour: {
      hasGeneration: true,
      hasStatus: true,
      setDefaults: setAdmissionPolicyDefaults,
      validate: validateAdmissionPolicy,
      validateUpdate: validateAdmissionPolicy,
    },
    columns: ADMISSION_POLICY_COLUMNS,
  },
  {
    ...admission,
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    behaviour: {
      hasGeneration: true,
      setDefaults: setPolicyBindingDefaults,
      validate: validatePolicyBinding,
      validateUpdate: validatePolicyBinding,
    },
    columns: POLICY_BINDING_COLUMNS,
  },
  {
    group: 'coordination.k8s.io',
    version: 'v1',
    kind: 'Lease',
    plural: 'leases',
    namespaced: true,
    behaviour: { isCreatedByPut: true },
    columns: LEASE_COLUMNS,
  },
];
