// Weights of the search: what a word is the title of, then the glossary, then the pages; the reference comes last.
// Sphinx puts this beside its own script and asks it for the score of each result.

/* exported Scorer */
var Scorer = {
  score: ([page, , , , score]) => {
    const kind = /^book\/api/.test(page) ? 0.2 : page === "book/glossary" ? 1.4 : /^notebooks\//.test(page) ? 1.3 : 1;
    return score * kind;
  },

  objNameMatch: 4,
  objPartialMatch: 2,
  objPrio: { 0: 1, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 30,
  partialTitle: 12,
  term: 5,
  partialTerm: 2,
};
