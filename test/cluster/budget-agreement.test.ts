import { budgetAgreement } from './support/budget-agreement.ts';

budgetAgreement(4, 20_261_129);
