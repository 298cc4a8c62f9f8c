import { kubeconfigAgreement } from './kubeconfig-agreement.ts';

kubeconfigAgreement(60, 5);
