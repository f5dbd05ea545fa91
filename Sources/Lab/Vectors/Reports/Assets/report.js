// Hides the cases that do not have all the words, and opens the clauses of the others. Without this script the page
// shows everything.
'use strict';
const form=document.getElementById('search');
if(form){
  const words=document.getElementById('words'),outcome=document.getElementById('outcome');
  const hits=document.getElementById('hits');
  const clauses=[...document.querySelectorAll('details')].map(section=>({section,wasOpen:section.open,
    rows:[...section.querySelectorAll('tbody tr')].map(row=>({row,
      text:(section.querySelector('summary').textContent+' '+row.textContent).toLowerCase()}))}));
  const total=clauses.reduce((sum,clause)=>sum+clause.rows.length,0);
  const show=()=>{
    const wanted=words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const searches=wanted.length>0||outcome.value!=='';
    let count=0;
    for(const clause of clauses){
      let found=0;
      for(const {row,text} of clause.rows){
        const isHit=wanted.every(word=>text.includes(word))&&(outcome.value===''||row.className===outcome.value);
        row.hidden=!isHit;
        if(isHit)found+=1;
      }
      clause.section.hidden=found===0;
      clause.section.open=searches?found>0:clause.wasOpen;
      count+=found;
    }
    hits.textContent=searches?(count===0?'no case':count+' of '+total+' cases'):total+' cases';
  };
  const reveal=()=>{
    const row=location.hash.length>1&&document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const section=row&&row.closest('details');
    if(!section)return;
    if(row.hidden){words.value='';outcome.value='';show()}
    section.open=true;
    row.scrollIntoView({block:'center'});
  };
  words.addEventListener('input',show);
  outcome.addEventListener('change',show);
  form.addEventListener('submit',event=>event.preventDefault());
  addEventListener('hashchange',reveal);
  form.hidden=false;
  show();
  reveal();
}
