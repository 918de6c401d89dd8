//! What the strategies of the codec's feature `proptest` make.

use std::cell::Cell;

use mlx5_prm::{
    AllocPdIn, Content, Count, Cqn, CreateCqIn, CreateQpIn, Described, Element, FteMatchSetLyr2_4,
    Kind, LayoutDesc, ModifyCqIn, ModifyRqtIn, Opcode, QueryCqIn, QueryCqOut, QueryQpOut, Request,
    RqNum, Rqtn, SetHcaCapIn, any_with_tail,
};
use mlx5_sim::Adapter;
use proptest::prelude::*;

/// What is out of the ordinary in a mailbox: reserved bits that are set, and values without a name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Odd {
    reserved: usize,
    unnamed: usize,
}

fn odd(layout: &'static LayoutDesc, bytes: &[u8], odd_ones: &mut Odd) {
    odd_ones.reserved += layout.reserved_set(bytes).count();
    for field in layout.fields.iter().filter(|field| field.count != Count::List) {
        // Members of a union share their bits: what one names is no name of another's.
        let shares = layout.kind == Kind::Union;
        for index in 0..field.elements(bytes.len()) {
            let value = field.read(bytes, index);
            let is_unnamed = match (field.element, value) {
                (Element::Layout(inner), _) if !shares => {
                    odd(inner, layout.part(field, bytes, index), odd_ones);
                    false
                }
                (Element::Enum(names), Some(value)) => names.name_of(value).is_none(),
                (Element::Flags(flags), Some(value)) => flags.names_of(value).1 != 0,
                _ => false,
            };
            odd_ones.unnamed += usize::from(is_unnamed && !shares && value != Some(0));
        }
    }
}

fn oddities<T: Described>(bytes: &[u8]) -> Odd {
    let mut all = Odd::default();
    odd(T::DESC, bytes, &mut all);
    all
}

/// Checks a layout with each content.
macro_rules! layouts {
    ($($test:ident: $Layout:ty;)*) => { $(
        #[test]
        fn $test() {
            let (unnamed, reserved, set) = (Cell::new(0), Cell::new(0), Cell::new(0));
            proptest!(ProptestConfig::with_cases(64), |(
                plain in any::<$Layout>(),
                unknown in any_with::<$Layout>(Content { unknown: true, reserved: false }),
                everything in any_with::<$Layout>(Content { unknown: true, reserved: true }),
            )| {
                prop_assert_eq!(oddities::<$Layout>(plain.as_bytes()), Odd::default());
                let odd = oddities::<$Layout>(unknown.as_bytes());
                prop_assert_eq!(odd.reserved, 0);
                unnamed.set(unnamed.get() + odd.unnamed);
                reserved.set(reserved.get() + oddities::<$Layout>(everything.as_bytes()).reserved);
                set.set(set.get() + plain.as_bytes().iter().filter(|byte| **byte != 0).count());
            });
            assert!(set.get() > 64, "the fields hold something");
            assert!(reserved.get() > 0, "reserved bits are set where that is asked for");
            println!("{}: {} values without a name", <$Layout>::DESC.name, unnamed.get());
        }
    )* };
}

layouts! {
    modify_cq_in: ModifyCqIn;
    create_qp_in: CreateQpIn;
    query_qp_out: QueryQpOut;
    query_cq_out: QueryCqOut;
    fte_match_set_lyr_2_4: FteMatchSetLyr2_4;
    set_hca_cap_in: SetHcaCapIn;
}

proptest! {
    #[test]
    fn commands_are_their_own(command in any::<ModifyCqIn>(), alloc in any::<AllocPdIn>()) {
        prop_assert_eq!(command.opcode(), Opcode::MODIFY_CQ);
        prop_assert_eq!(alloc.bytes()[..8].to_vec(), [8, 0, 0, 0, 0, 0, 0, 0]);
        prop_assert_eq!(command.bytes()[2..6].to_vec(), [0; 4]);
    }

    /// The kernel's rules and the firmware take them, whatever their fields, but for the size, which
    /// has a limit, and umems, of which there are none.
    #[test]
    fn commands_are_taken_by_the_simulated_adapter(mut create in any::<CreateCqIn>()) {
        let adapter = Adapter::new();
        create.set_cq_umem_valid(false);
        create.set_cq_umem_id(0);
        let context = create.cq_context_mut();
        context.set_dbr_umem_valid(false);
        context.set_dbr_umem_id(0);
        context.set_log_cq_size(context.log_cq_size() % 23);
        let cq = mlx5_devx::Object::create(&adapter, &create).expect("any CQ is made");
        let mut query = QueryCqIn::new();
        let context = *cq.query(&mut query).expect("it is there").cq_context();
        prop_assert_eq!(context.log_cq_size(), create.cq_context().log_cq_size());
        prop_assert_ne!(cq.number(), Cqn::new(0));
    }

    #[test]
    fn lists_have_their_length(
        command in any_with_tail::<ModifyRqtIn, RqNum>(2..5, Content::default()),
    ) {
        prop_assert!((2..5).contains(&command.tail.len()));
        prop_assert_eq!(command.head.opcode(), Opcode::MODIFY_RQT);
        prop_assert_eq!(command.as_bytes().len(), 0x110 + 4 * command.tail.len());
        prop_assert!(command.tail.iter().all(|entry| oddities::<RqNum>(entry.as_bytes()) == Odd::default()));
        let _: Rqtn = command.head.rqtn();
    }
}

/// A failure shrinks to what matters.
#[test]
fn failures_shrink() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let failed = runner.run(&any::<ModifyCqIn>(), |command| {
        prop_assert!(command.cq_context().cq_period() < 7);
        Ok(())
    });
    let Err(proptest::test_runner::TestError::Fail(_, least)) = failed else {
        panic!("it fails: {failed:?}")
    };
    let mut expected = ModifyCqIn::new();
    expected.cq_context_mut().set_cq_period(least.cq_context().cq_period());
    assert!((7..=8).contains(&least.cq_context().cq_period()), "{least:?}");
    assert_eq!(least, expected, "all else is 0, or the first name");
}
