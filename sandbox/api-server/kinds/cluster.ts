import { CRD_COLUMNS } from '#sandbox/api-server/table/object-columns.ts';
import {
  prepareDefinition,
  setDefinitionDefaults,
  validateDefinition,
} from '#sandbox/api-server/crd/validate-definition.ts';
import { setRoleBindingDefaults } from './cluster-defaults.ts';
import { status, type KindSpec } from './kind-spec.ts';
import type { Behaviour } from '#sandbox/api-server/resource-type.ts';

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const ROLE: Partial<Behaviour> = { nameRule: 'path', isCreatedByPut: true };
const BINDING: Partial<Behaviour> = { ...ROLE, setDefaults: setRoleBindingDefaults };

/** CustomResourceDefinitions, and kinds that are stored without effect, such as RBAC. */
export const CLUSTER: readonly KindSpec[] = [
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    subresources: [status('CustomResourceDefinition', 'apiextensions.k8s.io')],
    behaviour: {
      hasGeneration: true,
      hasStatus: true,
      setDefaults: setDefinitionDefaults,
      prepareCreate: prepareDefinition,
      validate: validateDefinition,
      validateUpdate: validateDefinition,
    },
    columns: CRD_COLUMNS,
  },
  { ...rbac, kind: 'Role', plural: 'roles', namespaced: true, behaviour: ROLE },
  { ...rbac, kind: 'RoleBinding', plural: 'rolebindings', namespaced: true, behaviour: BINDING },
  { ...rbac, kind: 'ClusterRole', plural: 'clusterroles', namespaced: false, behaviour: ROLE },
  { ...rbac, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false, behaviour: BINDING },
  {
    group: 'discovery.k8s.io',
    version: 'v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    namespaced: true,
    behaviour: { hasGeneration: true },
  },
];
